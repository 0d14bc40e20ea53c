"""A run in detail as charts and tables: what is drawn is what was found."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from planner.analyses import services
from planner.analyses.shown import shown
from planner.studies.models import Study
from planner.studies.results import study_result

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def study(answered: Callable[..., Study]) -> Study:
    return answered(mixed_counts="1,2")


@pytest.fixture
def told(study: Study, work: Callable[[], None], django_capture_on_commit_callbacks: Any) -> dict[str, Any]:
    with django_capture_on_commit_callbacks(execute=True):
        services.request(study.created_by, study, "run_detail", {"longer_than_s": 0.001})
    work()
    found = services.request(study.created_by, study, "run_detail", {"longer_than_s": 0.001}).told
    assert found is not None
    return found


def test_what_is_drawn_is_what_was_found(told: dict[str, Any]) -> None:
    found = shown("run_detail", told)
    by_id = {chart.id: chart for chart in found.charts}
    assert set(by_id) == {*(f"cdf-{cdf['metric'].replace('_', '-')}" for cdf in told["cdfs"]), "run-timeline"}
    for cdf in told["cdfs"]:
        curve, *limits = by_id[f"cdf-{cdf['metric'].replace('_', '-')}"].figure["data"]
        assert curve["y"][-1] == 100
        assert curve["x"] == [value for value in cdf["values"] if value is not None]
        drawn = sorted((x, y) for trace in limits for x, y in zip(trace["x"], trace["y"], strict=True))
        assert drawn == sorted((limit["limit"], limit["percentile"]) for limit in cdf["limits"])
    timeline = by_id["run-timeline"].figure
    assert timeline["data"][0]["y"] == told["timeline"]["queue"]
    stalled = [part for part in told["timeline"]["stalled"] if part]
    assert told["stalls"]["count"] > 0
    assert len(timeline["layout"]["shapes"]) == len(stalled) > 0
    titles = [table.title for table in found.tables]
    assert titles[:2] == ["Percentiles", "The minute, every five seconds"]
    assert "generation stall" in titles[2].lower()
    assert [len(row.cells) for table in found.tables for row in table.rows] == [
        len(table.columns) for table in found.tables for row in table.rows
    ]


def test_a_design_s_panel_offers_it_and_shows_it(
    alice_client: Client, study: Study, work: Callable[[], None], django_capture_on_commit_callbacks: Any
) -> None:
    design_id = study_result(study).rows[0].design_id
    panel = f"/studies/{study.pk}/designs/{design_id}/"
    assert "The run in detail" in alice_client.get(panel, **HTMX).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        alice_client.post(f"/studies/{study.pk}/analyses/run_detail/", {"design": design_id}, **HTMX)
    work()
    page = alice_client.get(panel).content.decode()
    assert "Time to first token" in page
    assert 'id="run-timeline-figure"' in page


def test_it_is_no_section_of_the_result(alice_client: Client, study: Study) -> None:
    page = alice_client.get(f"/studies/{study.pk}/").content.decode()
    assert "analysis-neighbourhood" in page
    assert "analysis-run_detail" not in page
