"""Root URLs: each app fills its own. An app's module is named, not imported: Django loads it, with all its views, when
an address or a link of the app is first asked for, and the server is ready before that."""

from django.urls import path

from planner.operations.health import healthz, readyz


def urls_of(app: str) -> tuple[str, str, str]:
    """What ``include`` gives for an app's ``urls``, but for the module's name in place of the module."""
    return f"planner.{app}.urls", app, app


urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("accounts/", urls_of("accounts")),
    path("api/v1/", urls_of("api")),
    path("catalogue/", urls_of("catalogue")),
    path("workloads/", urls_of("workloads")),
    path("calibrations/power/", urls_of("power_logs")),
    path("calibrations/", urls_of("calibrations")),
    path("studies/", urls_of("studies")),
    path("schemas/", urls_of("schemas")),
    path("shared/", urls_of("sharing")),
    path("studies/", urls_of("analyses")),
    path("studies/", urls_of("finance")),
    path("files/", ("planner.finance.file_urls", "files", "files")),
    path("help/", urls_of("help")),
    path("history/", urls_of("history")),
    path("compare/", urls_of("comparing")),
    path("deleted/", urls_of("deleted")),
    path("", urls_of("scenarios")),
]

handler500 = "planner.operations.trouble.answer"
