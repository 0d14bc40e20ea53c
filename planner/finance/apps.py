from django.apps import AppConfig


class FinanceConfig(AppConfig):
    name = "planner.finance"
