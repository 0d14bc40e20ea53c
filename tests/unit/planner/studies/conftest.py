"""A small real question of alice's, and ways to do what a worker does without one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from planner.accounts.models import Team, User
from planner.celery import app
from planner.scenarios import services as scenarios
from planner.scenarios.models import Revision
from planner.studies import evaluating, services, shards, tasks
from planner.studies.models import Study
from planner.workloads.models import Workload
from planner.workloads.services import save_mix
from simcore import evaluate
from simcore.evaluation import Design, Evaluation, RateRun, Trial
from simcore.study import Context
from simcore.traces import SyntheticSpec
from tests.unit.simcore.questions import linear

Inputs = dict[str, Any]
HELD_EACH = {1: (2.0,), 2: (6.0, 4.0)}
"""Requests a second that a machine of each pool holds, by the number of pools."""


class Counted:
    """Stands in for the engine where a test is about rows: capacity grows with machines; counts its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        """Designs whose capacity was searched."""
        self.runs: list[tuple[str, float]] = []
        """Designs that were run at a required rate."""
        self.beaten: list[str] = []
        """Designs that failed at their rival's rate."""
        self.asked: list[str] = []
        """Designs that were asked whether they hold the required rate."""
        self.trials: list[str] = []
        """Designs that were tried at a rate."""
        self.noise = 0.0
        """Of a capacity, by which its interval goes either way."""
        self.seeds: list[str] = []
        """Designs whose capacity was searched under another seed than the study's first."""
        self.before: Callable[[Design], None] = lambda design: None

    def __call__(self, design: Design, context: Context) -> Evaluation:
        return linear(design, HELD_EACH[len(design.case.pools)], context.spec.rate_req_per_s)

    def capacity(self, design: Design, context: Context, seed: int) -> Evaluation:
        (self.calls if seed == design.case.seed else self.seeds).append(design.design_id)
        self.before(design)
        found = replace(self(design, context), at_required=None, simulations=8)
        low, high = ((1 + off) * found.capacity_req_per_s for off in (-self.noise, self.noise))
        found = replace(found, capacity_low=low, capacity_high=high)
        return replace(found, cpu_s=0.1, engine_version=tasks.engine_version())

    def required(self, design: Design, context: Context, rate_req_per_s: float) -> RateRun:
        self.runs.append((design.design_id, rate_req_per_s))
        return RateRun(self(design, context).at_required)

    def holds(self, design: Design, context: Context, rate_req_per_s: float) -> Trial:
        """One run, of those that are not searched."""
        self.trials.append(design.design_id)
        holds = self(design, context).capacity_req_per_s >= rate_req_per_s
        if design.rate_only:
            self.asked.append(design.design_id)
        elif not holds:
            self.beaten.append(design.design_id)
        return Trial(holds, 1, 1000, 5000)

    @property
    def designs(self) -> int:
        """How many were simulated, none twice for the same."""
        for done in (self.calls, self.beaten, self.asked):
            assert len(done) == len(set(done))
        return len({*self.calls, *self.beaten, *self.asked})


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    stand_in = Counted()
    monkeypatch.setattr(evaluate, "capacity", stand_in.capacity)
    monkeypatch.setattr(evaluate, "required", stand_in.required)
    monkeypatch.setattr(evaluate, "holds", stand_in.holds)
    return stand_in


@pytest.fixture(autouse=True)
def one_row_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test counts tasks and looks between designs: each does one row of a few designs, and writes each result
    at once."""
    monkeypatch.setattr(shards, "LEAST_S", 0.1)
    monkeypatch.setattr(shards, "predicted_cpu_s", lambda *_: 0.05)
    monkeypatch.setattr(tasks, "GOES_ON_S", 0)
    monkeypatch.setattr(evaluating, "WRITE_EVERY_S", 0)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What would go to the broker: (task name, row id)."""
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args: messages.append((name, args[0])))
    return messages


@pytest.fixture
def inputs(alice: User, workload: Workload) -> Inputs:
    return {
        "model": "bloom-176b",
        "workload": str(workload.pk),
        "rate_req_per_s": 10,
        "machines": ["dgx-h100", "dgx-a100"],
        "families": ["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-a100"],
        "price_book": "list",
        "latency": "measured",
    }


@pytest.fixture
def revision(alice: User, inputs: Inputs) -> Revision:
    return scenarios.create_scenario(alice, inputs)


@pytest.fixture
def start(
    alice: User,
    revision: Revision,
    sent: list[tuple[str, str]],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Callable[[], Study]:
    """Starts a study of the revision as the page does."""

    def started() -> Study:
        with django_capture_on_commit_callbacks(execute=True):
            return services.start_study(alice, revision)

    return started


@pytest.fixture
def work(
    sent: list[tuple[str, str]], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Callable[..., int]:
    """Does the tasks that were sent, in order, until none is left or so many are done."""
    by_name = {task.name: task for task in (tasks.plan_wave, tasks.run_shard)}

    def worked(most: int = 10_000) -> int:
        done = 0
        while sent and done < most:
            name, row_id = sent.pop(0)
            with django_capture_on_commit_callbacks(execute=True):
                by_name[name](row_id)
            done += 1
        return done

    return worked


@pytest.fixture
def workload(alice: User, team: Team) -> Workload:
    return save_mix(team, alice, "A little chat", SyntheticSpec("conversation", 10.0, 300))
