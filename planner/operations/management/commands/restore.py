"""``manage.py restore FILE.tar.gz``."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from planner.operations.archive import ArchiveError
from planner.operations.restore import RestoreError, restore


class Command(BaseCommand):
    help = "Loads an archive that manage.py backup made, here or elsewhere, and brings it up to this version."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the archive")
        parser.add_argument("--replace", action="store_true", help="give up what the database holds now")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = restore(options["file"], replace=options["replace"])
        except (RestoreError, ArchiveError) as error:
            raise CommandError(str(error)) from error
        rows = sum(table.rows for table in done.manifest.tables.values())
        self.stdout.write(f"Restored {rows:,} rows and {len(done.manifest.files)} files of {done.manifest.created_at}.")
        if done.kept:
            self.stdout.write(f"What was there before is kept: {done.kept}")
        self.stdout.write("Everybody signs in anew; API tokens and links stay valid where SECRET_KEY is the same.")
