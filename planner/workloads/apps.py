from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class WorkloadsConfig(AppConfig):
    name = "planner.workloads"

    def ready(self) -> None:
        post_migrate.connect(ship_after_migrating, sender=self)


def ship_after_migrating(plan: Any = None, **_: Any) -> None:
    """Every database that is up to date has the shipped mixes, a test's emptied one too."""
    from django.db import connection

    from planner.workloads.models import Workload
    from planner.workloads.services import ship_mixes

    if Workload._meta.db_table in connection.introspection.table_names():  # not when migrated back to nothing
        ship_mixes()
