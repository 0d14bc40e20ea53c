"""What the data folder needs before the web server and the worker start; safe to do at every start."""

import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command

from planner.env import envstr
from planner.launcher.locks import FileLock


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "planner.settings")
    django.setup()
    say("[3/5] preparing the database …")
    call_command("migrate", interactive=False, verbosity=0)
    if settings.EMBEDDED:
        requeue()
    if settings.LOCAL:
        sign_up_local_user()
    else:
        invite_first_admin()
    say("      loading the catalogue …")
    call_command("load_catalogue")
    say("[4/5] collecting the static files …")
    call_command("collectstatic", interactive=False, verbosity=0)
    say("      preparing the example study …")
    call_command("load_example")


def requeue() -> None:
    """Queues what ran when the last run ended. A start by hand is a new beginning: attempts are forgotten."""
    from planner.studies.leases import requeue_running
    from planner.studies.queue import leased_models

    lock = FileLock(Path(settings.VAR) / "worker.lock")
    if not lock.take():
        sys.exit(f"phaseplan: a worker (process {lock.read()}) already uses {settings.VAR}: stop it first")
    for model in leased_models():
        requeue_running(model, forget_attempts=True)
    lock.release()


def sign_up_local_user() -> None:
    from planner.accounts.teams import local_user

    local_user()


def invite_first_admin() -> None:
    """Says how the first person of a new server comes in; nothing once somebody can."""
    from planner.accounts.one_time import somebody_can_sign_in

    if somebody_can_sign_in():
        return
    name = envstr("PHASEPLAN_FIRST_ADMIN")
    if name:
        call_command("first_admin", name, email=envstr("PHASEPLAN_FIRST_ADMIN_EMAIL"))
    else:
        say("      nobody can sign in yet: python manage.py first_admin NAME prints a link for the first person")


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    main()
