from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "planner.api"

    def ready(self) -> None:
        from planner import checks  # noqa: F401 - registers them
