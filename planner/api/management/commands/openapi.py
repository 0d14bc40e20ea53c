"""``manage.py openapi``: writes docs/openapi.json from the code; ``--check`` says how it differs, and then fails."""

import difflib
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

PLACE = "docs/openapi.json"


class Command(BaseCommand):
    help = f"Writes {PLACE} from the code."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail where it differs")

    def handle(self, *args: Any, **options: Any) -> None:
        from planner.api.document import as_text

        file, text = settings.BASE_DIR / PLACE, as_text()
        if not options["check"]:
            file.write_text(text, encoding="utf-8")
            return
        known = file.read_text(encoding="utf-8") if file.exists() else ""
        lines = difflib.unified_diff(
            known.splitlines(), text.splitlines(), f"committed {PLACE}", "what the code says", lineterm="", n=5
        )
        for line in lines:
            self.stdout.write(line)
        if known != text:
            raise CommandError(f"{PLACE} is not what the code says: python manage.py openapi writes it.")
