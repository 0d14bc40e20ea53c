"""The migrations of people and sharing, on a database with rows of before."""

import importlib

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE = [
    ("accounts", "0001_initial"),
    ("scenarios", "0006_updated_at"),
    ("sharing", "0001_links"),
    ("studies", "0010_updated_at"),
    ("workloads", "0003_blocks_of_drafts"),
]


@pytest.mark.django_db(transaction=True)
def test_people_teams_and_links_of_before_are_as_they_were() -> None:
    executor = MigrationExecutor(connection)
    latest = executor.loader.graph.leaf_nodes()
    try:
        executor.migrate(BEFORE)
        apps = executor.loader.project_state(BEFORE).apps
        user = apps.get_model("accounts", "User").objects.create(username="ada", password="pbkdf2_sha256$1$a$b")
        team = apps.get_model("accounts", "Team").objects.create(name="planners")
        apps.get_model("accounts", "Membership").objects.create(team=team, user=user, role="owner")
        workload = apps.get_model("workloads", "Workload")._base_manager.create(
            team=team,
            created_by=user,
            name="mix",
            content_hash="0",
            requests=1,
            spec={},
            summary={},
            report={},
            draft=False,
        )
        scenario = apps.get_model("scenarios", "Scenario")._base_manager.create(team=team, name="asked")
        revision = apps.get_model("scenarios", "Revision")._base_manager.create(scenario=scenario, number=1, inputs={})
        study = apps.get_model("studies", "Study")._base_manager.create(
            revision=revision, team=team, workload=workload, spec={}, prices={}, trace_hash="0", state="done"
        )
        apps.get_model("sharing", "ShareLink")._base_manager.create(team=team, study=study, token_hash="0" * 64)
        executor = MigrationExecutor(connection)
        executor.migrate([("accounts", "0002_people")])
        entries = executor.loader.project_state([("accounts", "0002_people")]).apps.get_model("accounts", "AuditEntry")
        told = {"team_id": team.pk, "created_by_id": user.pk, "by_name": "ada"}
        entries._base_manager.create(
            action="changed the role of", subject="bob", before="viewer", after="owner", **told
        )
        entries._base_manager.create(action="shared no more", subject="asked with eve", before="read", **told)
        executor = MigrationExecutor(connection)
        executor.migrate(latest)

        kept = model("accounts", "AuditEntry").unscoped.order_by("pk").values_list("action", "changes", "created_by")
        assert list(kept) == [
            ("changed the role of", {"role": ["viewer", "owner"]}, user.pk),
            ("shared no more", {"may": ["read", None]}, user.pk),
        ]
        link = model("sharing", "ShareLink").unscoped.get()
        assert (link.follows, link.expires_at, link.state, link.shown.pk) == (False, None, "open", study.pk)
        ada = model("accounts", "User").objects.get()
        assert (ada.chosen_team, ada.password) == (None, "pbkdf2_sha256$1$a$b")
        assert importlib.import_module("planner.accounts.teams").working_team(ada).name == "planners"
        assert [row.pk for row in model("scenarios", "Scenario").objects.visible_to(ada)] == [scenario.pk]
    finally:
        MigrationExecutor(connection).migrate(latest)


def model(app: str, name: str) -> type:
    from django.apps import apps

    return apps.get_model(app, name)
