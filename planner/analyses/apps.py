from django.apps import AppConfig


class AnalysesConfig(AppConfig):
    name = "planner.analyses"
