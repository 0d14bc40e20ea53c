"""manage.py load_catalogue: bring the shipped rows up to date; teams' own rows stay."""

from typing import Any

from django.core.management.base import BaseCommand

from planner.catalogue.shipped import load_shipped


class Command(BaseCommand):
    help = "Loads the shipped catalogue; done again, it never touches a team's own rows."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"catalogue: {load_shipped()}")
