"""For whoever runs the server: a link by which somebody chooses a new password, where no mail reaches them."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import User
from planner.accounts.one_time import password_path, site_address


class Command(BaseCommand):
    help = "Prints a one-time link by which a person chooses a new password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name that they sign in by")
        parser.add_argument(
            "--address", default="", help="how people reach the server, such as https://plan.example.org"
        )

    def handle(self, *args: Any, name: str, address: str, **options: Any) -> None:
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(f"{name}: nobody of that name may sign in")
        with transaction.atomic():
            audit.record(None, None, "had a password link printed", user)
        self.stdout.write(f"{(address or site_address()).rstrip('/')}{password_path(user)}")
