from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CatalogueConfig(AppConfig):
    name = "planner.catalogue"

    def ready(self) -> None:
        post_migrate.connect(_load_shipped, sender=self)


def _load_shipped(**_: Any) -> None:
    """Each migrated database has the catalogue of the installed version, a test's too."""
    from planner.catalogue.shipped import load_shipped

    load_shipped()
