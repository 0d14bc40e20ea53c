"""Creates the example question of team "local" and starts its study: once, and never over what is there."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from planner.accounts.teams import local_user, working_team
from planner.scenarios.models import Scenario
from planner.scenarios.services import create_scenario
from planner.studies import example
from planner.studies.services import start_study
from planner.workloads.models import Workload


class Command(BaseCommand):
    help = "Creates the example question of the local team and starts its study, if it is not there yet."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.LOCAL:
            return  # a server's teams ask their own questions
        user = local_user()
        team = working_team(user)
        if Scenario.unscoped.filter(team=team, shipped_id=example.SHIPPED_ID).exists():
            return
        workload = Workload.of_mix(example.MIX)
        revision = create_scenario(
            user,
            example.inputs(str(workload.pk)),
            name=example.NAME,
            shipped_id=example.SHIPPED_ID,
            note=example.NOTE,
        )
        study = start_study(user, revision)
        self.stdout.write(f"      the example is being computed: study {study.pk}, its answer grows on the first page")
