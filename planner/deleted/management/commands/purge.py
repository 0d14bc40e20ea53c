"""``manage.py purge``: what was deleted long ago, removed for good."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from planner.deleted.services import purge


class Command(BaseCommand):
    help = "Removes for good what people deleted, and nobody put back, longer than some days ago."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days",
            type=int,
            default=settings.KEEP_DELETED_DAYS,
            help=f"how long ago it was deleted (PHASEPLAN_KEEP_DELETED_DAYS: {settings.KEEP_DELETED_DAYS})",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")

    def handle(self, *args: Any, days: int, dry_run: bool, **options: Any) -> None:
        if days < 0:
            raise CommandError(f"--days: found {days}, expected 0 or more")
        would = "would be removed" if dry_run else "removed"
        for done in purge(days, dry_run=dry_run):
            kept = f", {done.kept} kept, for something still needs them" if done.kept else ""
            self.stdout.write(f"{done.what}: {done.rows} {would}{kept}")
