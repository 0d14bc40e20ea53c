"""The example: made once, never over what is there."""

from io import StringIO

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from planner.accounts.teams import local_user
from planner.scenarios.models import Scenario
from planner.scenarios.services import save_revision
from planner.studies import stored
from planner.studies.example import SHIPPED_ID
from planner.studies.models import Study, Wave
from simcore.families import lines


@pytest.fixture(autouse=True)
def _on_a_persons_machine(settings: LazySettings, db: None) -> None:
    settings.LOCAL = True


def load() -> str:
    out = StringIO()
    call_command("load_example", stdout=out)
    return out.getvalue()


def test_the_example_is_asked_and_queued_once(sent: list[tuple[str, str]], django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        assert "example is being computed" in load()
        assert load() == ""
    study = Study.objects.visible_to(local_user()).get()
    assert sent == [(Wave.task_name, str(study.waves.get().pk))]
    assert study.revision.scenario.shipped_id == SHIPPED_ID
    assert "decode time up by" in study.revision.scenario.note


def test_it_asks_what_the_paper_asked(sent: list[tuple[str, str]]) -> None:
    load()
    spec = stored.spec_of(Study.objects.visible_to(local_user()).get())
    assert (spec.rate_req_per_s, spec.limits.power_limit_kw, spec.limits.power_kind) == (70.0, 408.0, "nameplate")
    assert (spec.slo.kind, spec.latency.source, spec.arrivals) == ("slowdown", "measured", "poisson")
    found = lines(spec)
    assert len({line.family for line in found}) == 8
    assert spec.counts.every
    assert spec.scheduler_options.token_budgets == (128, 256, 512, 1024, 2048, 4096)
    assert len(found) == 2 * 7 + 4
    assert [line.reason for line in found if line.reason] == []


def test_what_a_user_has_made_of_it_stays(sent: list[tuple[str, str]]) -> None:
    load()
    scenario = Scenario.objects.visible_to(local_user()).get()
    changed = scenario.latest.inputs | {"rate_req_per_s": 55}
    save_revision(local_user(), scenario, changed)
    scenario.name = "mine now"
    scenario.save()
    assert load() == ""
    scenario.refresh_from_db()
    assert (scenario.name, scenario.latest.number, scenario.latest.inputs["rate_req_per_s"]) == ("mine now", 2, 55.0)
    assert Study.unscoped.count() == 1


def test_a_server_gets_no_example(settings: LazySettings) -> None:
    settings.LOCAL = False
    assert load() == ""
    assert not Study.unscoped.exists()
