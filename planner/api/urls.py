"""REST v1: the root, and each app's own routes (its api.py)."""

from django.urls import include, path

from planner.api.views import NotFound, Root

app_name = "api"
urlpatterns = [
    path("", Root.as_view(), name="root"),
    path("catalogue/", include("planner.catalogue.api")),
    path("workloads/", include("planner.workloads.api")),
    path("scenarios/", include("planner.scenarios.api")),
    path("studies/", include("planner.studies.api")),
    path("<path:anything>", NotFound.as_view()),
]
