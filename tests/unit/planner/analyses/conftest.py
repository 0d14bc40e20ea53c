"""A small answered study of alice's, and ways to do what a worker does."""

from collections.abc import Callable
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import Team, User
from planner.analyses import tasks
from planner.celery import app
from planner.scenarios import services as scenarios
from planner.studies import services
from planner.studies import tasks as studies
from planner.studies.models import Study
from planner.workloads.models import Workload
from planner.workloads.services import save_mix
from simcore.traces import SyntheticSpec

Sent = list[tuple[str, str]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What would go to the broker: (task name, row id)."""
    messages: Sent = []
    monkeypatch.setattr(app, "send_task", lambda name, args: messages.append((name, args[0])))
    return messages


@pytest.fixture
def work(sent: Sent, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Callable[[], None]:
    """Does the tasks that were sent until none is left."""
    by_name = {task.name: task for task in (studies.plan_wave, studies.run_shard, tasks.run_analysis)}

    def worked() -> None:
        while sent:
            name, row_id = sent.pop(0)
            with django_capture_on_commit_callbacks(execute=True):
                by_name[name](row_id)

    return worked


@pytest.fixture
def workload(alice: User, team: Team) -> Workload:
    return save_mix(team, alice, "A little chat", SyntheticSpec("conversation", 10.0, 300))


@pytest.fixture
def answered(
    alice: User,
    workload: Workload,
    work: Callable[[], None],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Callable[..., Study]:
    """Starts a small study as the page does, and has it done."""

    def answer(**changes: Any) -> Study:
        inputs = {
            "model": "bloom-176b",
            "workload": str(workload.pk),
            "rate_req_per_s": 2,
            "machines": ["dgx-h100"],
            "families": ["sarathi:dgx-h100"],
            "token_budget": 512,
            "mixed_counts": "1,2",
            "price_book": "list",
            "latency": "measured",
        }
        with django_capture_on_commit_callbacks(execute=True):
            study = services.start_study(alice, scenarios.create_scenario(alice, inputs | changes))
        work()
        study.refresh_from_db()
        return study

    return answer
