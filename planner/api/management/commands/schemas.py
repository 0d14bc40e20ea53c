"""``manage.py schemas``: writes the JSON Schemas of exports to docs/schemas; a test says where they differ."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

FOLDER = "docs/schemas"


class Command(BaseCommand):
    help = f"Writes {FOLDER} from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        from planner.schemas.files import texts

        folder = settings.BASE_DIR / FOLDER
        folder.mkdir(exist_ok=True)
        for name, text in texts().items():
            (folder / f"{name}.json").write_text(text, encoding="utf-8")
