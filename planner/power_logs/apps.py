from django.apps import AppConfig


class PowerLogsConfig(AppConfig):
    name = "planner.power_logs"
