"""docs/api.md's walk with curl, each command as it stands there, by HTTP against a server."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from planner.accounts import tokens
from planner.accounts.models import ApiToken, Team, User
from planner.finance.models import FileLink
from planner.scenarios.models import Scenario
from planner.studies.models import Study
from planner.workloads.models import Workload
from tests.services import program
from tests.unit.planner.finance.conftest import answered, costed, sent, work, workload

__all__ = ["answered", "costed", "sent", "work", "workload"]
pytestmark = pytest.mark.usefixtures("collected_static")
DOCUMENT = Path(__file__).resolve().parents[4] / "docs" / "api.md"
BLOCK = re.compile(r"(?:^    .+\n)+", re.MULTILINE)
FAILING = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }\n'
"""So that a status of 400 and above is a failure."""


def commands() -> Iterator[str]:
    """Each curl command of the document, its lines that are continued too."""
    for block in BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")):
        for one in re.split(r"\n(?=    curl )", block.rstrip("\n")):
            if one.startswith("    curl "):
                yield "\n".join(line.removeprefix("    ") for line in one.splitlines())


@pytest.fixture
def run(live_server: LiveServer, team: Team, alice: User, tmp_path: Path) -> Callable[..., Any]:
    """Runs one of them in a folder of its own; its JSON, or its text."""
    text = tokens.issue(team, "walk", alice, ApiToken.Scope.WRITE)[1]
    known = {"URL": live_server.url, "AUTH": f"Authorization: Bearer {text}", "PATH": os.environ["PATH"]}

    def one(command: str, **variables: object) -> Any:
        environment = {**known, **{name: str(value) for name, value in variables.items()}}
        done = subprocess.run(
            ["bash", "-euc", FAILING + command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return json.loads(done.stdout) if done.stdout.startswith(("{", "[")) else done.stdout

    return one


def test_every_command_of_the_document(
    costed: Study, run: Callable[..., Any], tmp_path: Path, alice: User, workload: Workload
) -> None:
    program("curl")
    lines = [json.dumps({"timestamp": 500 * place, "input_length": 50, "output_length": 9}) for place in range(40)]
    (tmp_path / "trace.jsonl").write_text("\n".join(lines))
    subprocess.run(["gzip", "trace.jsonl"], cwd=tmp_path, check=True)
    ids: dict[str, object] = {"STUDY": costed.pk, "WORKLOAD": workload.pk}
    answers = {}
    every = list(commands())
    for command in every:
        answers[command] = said = run(command, **ids)
        if '"name": "Chat, west"' in command:
            ids["SCENARIO"] = said["id"]
        if '"label": "board pack"' in command:
            ids["LINK"] = said["id"]
            assert said["address"].startswith("http")
    assert len(every) > 15

    assert Workload.objects.visible_to(alice).get(name="July, west").requests == 40
    assert Scenario.objects.visible_to(alice).get(pk=ids["SCENARIO"]).latest.inputs["rate_req_per_s"] == 30
    assert Study.objects.visible_to(alice).filter(revision__scenario=ids["SCENARIO"]).count() == 1
    assert FileLink.objects.visible_to(alice).get().revoked_at is not None
    text = (tmp_path / "lines.csv").read_text(encoding="utf-8")
    assert text.startswith("\ufeffscenario_id;")
    assert (tmp_path / "costs.xlsx").read_bytes().startswith(b"PK")
    (designs,) = (answers[one] for one in every if "/designs?" in one)
    rates = [row["usd_per_hour"] for row in designs["results"]]
    assert rates == sorted(rates, key=float)
    assert rates
