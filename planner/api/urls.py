"""REST v1: the root, and each app's own routes (``rest_patterns`` of its urls, views in its api.py)."""

from django.urls import include, path

from planner.analyses.urls import rest_patterns as analyses
from planner.calibrations.urls import rest_patterns as calibrations
from planner.catalogue.urls import rest_patterns as catalogue
from planner.comparing.urls import rest_patterns as comparing
from planner.deleted.urls import rest_patterns as deleted
from planner.finance.urls import rest_patterns as finance
from planner.finance.urls import scenario_rest_patterns as scenario_approvals
from planner.history.urls import rest_patterns as history
from planner.lazy import views_of
from planner.power_logs.urls import rest_patterns as power_logs
from planner.scenarios.urls import rest_patterns as scenarios
from planner.studies.urls import rest_patterns as studies
from planner.workloads.urls import rest_patterns as workloads

view = views_of("planner.api.views")

app_name = "api"
urlpatterns = [
    path("", view("Root"), name="root"),
    path("openapi.json", views_of("planner.api.document_views")("OpenApi"), name="openapi"),
    path("catalogue/", include(catalogue)),
    path("workloads/", include(workloads)),
    path("calibrations/", include(calibrations)),
    path("power-logs/", include(power_logs)),
    path("scenarios/", include(scenarios)),
    path("scenarios/", include(scenario_approvals)),
    path("studies/", include(studies)),
    path("studies/", include(analyses)),
    path("studies/", include(finance)),
    path("deleted/", include(deleted)),
    path("", include(comparing)),
    path("", include(history)),
    path("<path:anything>", view("NotFound")),
]
