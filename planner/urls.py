"""Root URLs: each app fills its own."""

from django.urls import include, path

from planner.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("accounts/", include("planner.accounts.urls")),
    path("api/v1/", include("planner.api.urls")),
    path("catalogue/", include("planner.catalogue.urls")),
    path("workloads/", include("planner.workloads.urls")),
    path("studies/", include("planner.studies.urls")),
    path("", include("planner.scenarios.urls")),
]
