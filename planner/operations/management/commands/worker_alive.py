"""``manage.py worker_alive``: a container's health check of its worker."""

import sys
from socket import gethostname
from typing import Any

from django.core.management.base import BaseCommand

from planner.studies.workers import STALE_S, alive


class Command(BaseCommand):
    help = f"Exit code 0 where a worker of this host was seen in the last {STALE_S} seconds, 1 otherwise."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        names = [row.name for row in alive() if row.name.startswith(f"{gethostname()}:")]
        self.stdout.write(", ".join(names) or f"no worker of {gethostname()}")
        if not names:
            sys.exit(1)
