"""/healthz tells a load balancer and a person what works."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from planner.accounts.models import Team
from planner.operations import health
from planner.studies.models import Wave, Worker
from planner.studies.workers import STALE_S
from tests.unit.planner.bare_study import bare_study


@pytest.mark.django_db
def test_a_living_worker_makes_it_ok(client: Client) -> None:
    Worker.objects.create(name="one", heartbeat_at=timezone.now() - timedelta(seconds=4))
    report = client.get("/healthz").json()
    assert report["status"] == "ok"
    assert 4 <= report["worker"]["heartbeat_age_s"] < STALE_S


@pytest.mark.django_db
def test_without_a_worker_pages_still_answer(client: Client) -> None:
    Worker.objects.create(name="one", heartbeat_at=timezone.now() - timedelta(seconds=STALE_S + 1))
    answer = client.get("/healthz")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["worker"]["alive"]) == ("degraded", False)


@pytest.mark.django_db
def test_a_worker_that_compiles_is_there_but_takes_no_work(client: Client) -> None:
    Worker.objects.create(name="one", compiling=True)
    report = client.get("/healthz").json()
    assert report["worker"] == {"alive": False, "heartbeat_age_s": None, "compiling": True}
    assert report["status"] == "degraded"


def test_the_queue_shows_how_long_the_oldest_waits(client: Client, team: Team) -> None:
    study = bare_study(team)
    Wave.objects.create(study=study, number=0, queued_at=timezone.now() - timedelta(seconds=90))
    Wave.objects.create(study=study, number=1)
    queue = client.get("/healthz").json()["queue"]
    assert queue["queued"] == 2
    assert 90 <= queue["oldest_s"] < 100


def test_a_database_that_is_gone_is_503(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(now: object) -> None:
        raise OperationalError("server closed the connection: password=secret")

    monkeypatch.setattr(health, "_report", gone)
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "down", "database": {"reachable": False, "error": "OperationalError"}}


@pytest.mark.django_db
def test_a_server_with_its_tables_is_ready(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "database": "reachable", "waiting_migrations": [], "broker": "reachable"}


@pytest.mark.django_db
def test_a_server_whose_tables_are_older_is_not(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "waiting_migrations", lambda: ["studies.9999_more"])
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["waiting_migrations"] == ["studies.9999_more"]


@pytest.mark.django_db
def test_without_redis_a_server_is_ready_and_says_so(client: Client, settings: Any) -> None:
    settings.EMBEDDED, settings.REDIS_URL = False, "redis://127.0.0.1:1/0"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["broker"]) == (200, "ConnectionError")
