from django.apps import AppConfig


class DeletedConfig(AppConfig):
    name = "planner.deleted"
