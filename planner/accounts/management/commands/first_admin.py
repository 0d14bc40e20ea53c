"""The first person of a new server: prints a link by which they choose their password, once."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from planner.accounts.models import User
from planner.accounts.one_time import make_first_admin, password_path, site_address


class Command(BaseCommand):
    help = "Makes the first person, owner of a team, and prints a one-time link by which they choose a password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="the name to sign in by")
        parser.add_argument("--email", default="", help="where a link to reset the password is mailed to")
        parser.add_argument("--team", default="planners", help="the team that they own (planners)")
        parser.add_argument(
            "--address", default="", help="how people reach the server, such as https://plan.example.org"
        )

    def handle(self, *args: Any, name: str, email: str, team: str, address: str, **options: Any) -> None:
        try:
            User(username=name, email=email).clean_fields(exclude=["password"])
            user = make_first_admin(name, email, team)
        except ValidationError as error:
            raise CommandError(f"{name}: {'; '.join(error.messages)}") from error
        except ValueError as error:
            raise CommandError(f"{name}: {error}") from error
        link = f"{(address or site_address()).rstrip('/')}{password_path(user)}"
        self.stdout.write(f"{user.username}, owner of team {team}, chooses a password within a day at\n{link}")
