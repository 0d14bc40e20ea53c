from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "planner.catalogue"
