from django.apps import AppConfig


class CalibrationsConfig(AppConfig):
    name = "planner.calibrations"
