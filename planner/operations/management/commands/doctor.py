"""``manage.py doctor``."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from planner.operations.doctor import examine

MARKS = {"ok": "ok     ", "note": "note   ", "problem": "PROBLEM"}


class Command(BaseCommand):
    help = "Says whether this installation can do its work, and what to do where it cannot; exit code 1 then."
    requires_system_checks: list[str] = []  # it asks them itself, and goes on

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--deep", action="store_true", help="compare every stored answer with its sum, too")
        parser.add_argument("--json", action="store_true", help="a list of findings")

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(examine(deep=options["deep"]))
        if options["json"]:
            self.stdout.write(json.dumps([asdict(one) for one in found], indent=1))
        else:
            for one in found:
                self.stdout.write(f"{MARKS[one.level]}  {one.about}: {one.words}")
        if any(one.level == "problem" for one in found):
            sys.exit(1)
