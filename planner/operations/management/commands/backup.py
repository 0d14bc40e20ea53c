"""``manage.py backup FILE.tar.gz``."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from planner.operations.backup import BackupError, backup


class Command(BaseCommand):
    help = "Writes all rows and uploaded files, of one moment, into one new file; people may work on meanwhile."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="the new archive, such as phaseplan.tar.gz")
        parser.add_argument(
            "--without-store",
            action="store_true",
            help="leave out the simulated results that studies share (each study keeps its own answer)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = backup(options["file"], with_store=not options["without_store"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        tables = done.manifest.tables
        rows = sum(table.rows for table in tables.values())
        self.stdout.write(
            f"{options['file']}: {rows:,} rows of {len(tables)} tables, {len(done.manifest.files)} files,"
            f" {done.size_bytes / 1e6:,.1f} MB. Left out: {', '.join(done.manifest.left_out)}, and the secret key."
        )
