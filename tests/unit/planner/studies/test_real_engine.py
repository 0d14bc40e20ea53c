"""The whole way with the real engine, small: the web's answer is the command line's."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from planner.accounts.models import User
from planner.scenarios import services as scenarios
from planner.studies import exports, services, stored
from planner.studies.leases import State
from planner.studies.results import study_result
from simcore.plan import plan
from simcore.rows import as_json

SMALL = {"rate_req_per_s": 2, "mixed_counts": "1,2", "prefill_counts": "1", "decode_counts": "1"}


@pytest.mark.usefixtures("sent")
def test_the_webs_rows_and_answer_are_the_command_lines(
    alice: User, inputs: dict[str, Any], work: Callable[..., int], django_capture_on_commit_callbacks: Any
) -> None:
    revision = scenarios.create_scenario(alice, inputs | SMALL)
    with django_capture_on_commit_callbacks(execute=True):
        study = services.start_study(alice, revision)
    work()
    study.refresh_from_db()
    assert (study.state, study.error) == (State.DONE, "")
    assert not study.designs.exclude(failure="").exists()
    ours = study_result(study)
    theirs = plan(stored.spec_of(study))
    assert [as_json(row) for row in ours.rows] == [as_json(row) for row in theirs.rows]
    assert {row.status for row in ours.rows} == {"evaluated"}
    assert any(row.capacity_req_per_s for row in ours.rows)
    kept = json.loads(json.dumps(exports.designs_json(study)))
    assert kept["designs"] == [as_json(row) for row in ours.rows]
    assert kept["answer"][0]["text"]
