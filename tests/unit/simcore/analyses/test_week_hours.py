"""A week hour by hour, over capacities in proportion to machines."""

from typing import Any

import numpy as np
import pytest

from planner.analyses.shown import shown
from simcore.analyses import Subject, analyse, week_hours
from simcore.fleet import pool_machines
from simcore.spec import Case, SpecError
from simcore.traces import Trace
from tests.unit.simcore.analyses.subjects import MadeUp, held, subject

ONE_BUSY_HOUR = [[100.0 if (day, hour) == (2, 10) else 25.0 for hour in range(24)] for day in range(7)]
PER_MACHINE = 10.0


def capacity(case: Case) -> Any:
    return held(min(pool_machines(pool) for pool in case.pools) * PER_MACHINE)


LAB = MadeUp(capacity, None)  # type: ignore[arg-type]


def asked(**changes: Any) -> Subject:
    mix = {"mix": "conversation", "rate_req_per_s": 20, "requests": 500, "seed": 1, "week": ONE_BUSY_HOUR}
    return subject(families=["sarathi:dgx-h100"], counts={"mixed": [8]}, workload={"synthetic": mix}, **changes)


def told(**parameters: Any) -> dict[str, Any]:
    return analyse("week_hours", asked(), LAB, parameters)


def test_the_busiest_hour_has_the_questions_rate_and_the_others_their_share() -> None:
    rates = [hour["rate_req_per_s"] for hour in told()["hours"]]
    assert rates.count(70.0) == 1
    assert rates[2 * 24 + 10] == 70.0
    assert sorted(set(rates)) == [17.5, 70.0]


def test_what_stands_idle_is_the_share_of_capacity_that_no_request_uses() -> None:
    found = told()
    price = float(found["sizes"][-1]["usd_per_hour"])
    used = (167 * 17.5 + 70) / 168 / 80
    assert found["week"]["used"] == pytest.approx(used)
    assert found["week"]["idle_usd_per_month"] == pytest.approx(730 * price * (1 - used))


def test_scaling_saves_the_hours_off_less_the_cold_starts() -> None:
    found = told(cold_start_s=1800)
    price = float(found["sizes"][-1]["usd_per_hour"]) / 8
    # 2 machines hold 17.5, 7 hold 70: 5 start once a week, half an hour before
    assert {hour["machines_on"] for hour in found["hours"]} == {2, 7}
    assert found["week"]["starts"] == 5
    saved = 8 * 168 - 167 * 2 - 7 - 5 * 0.5
    assert found["week"]["saved_usd_per_month"] == pytest.approx(saved * price * 730 / 168)
    assert found["week"]["cold_start_usd_per_month"] == pytest.approx(2.5 * price * 730 / 168)


def test_a_reserve_keeps_more_machines_on() -> None:
    assert {hour["machines_on"] for hour in told(most_used=0.8)["hours"]} == {3, 8}


def test_what_would_be_off_for_no_longer_than_a_start_stays_on() -> None:
    every_second = [[100.0 if hour % 2 else 10.0 for hour in range(24)]] * 7
    mix = {"mix": "conversation", "rate_req_per_s": 20, "requests": 500, "seed": 1, "week": every_second}
    flapping = subject(families=["sarathi:dgx-h100"], counts={"mixed": [8]}, workload={"synthetic": mix})
    slow, quick = (analyse("week_hours", flapping, LAB, {"cold_start_s": s}) for s in (3600, 3599))
    assert {hour["machines_on"] for hour in slow["hours"]} == {7}
    assert slow["week"]["starts"] == 0
    assert {hour["machines_on"] for hour in quick["hours"]} == {1, 7}
    assert quick["week"]["starts"] == 84 * 6
    gained = quick["week"]["saved_usd_per_month"] - slow["week"]["saved_usd_per_month"]
    assert 0 < gained < 0.001 * quick["week"]["usd_per_month"]


def test_without_a_week_a_wave_is_assumed_and_said() -> None:
    found = analyse("week_hours", subject(families=["sarathi:dgx-h100"], counts={"mixed": [8]}), LAB, {})
    assert "assumed, as neither question nor workload has a week" in found["assumptions"][0]["text"]
    assert found["hours"][14]["rate_req_per_s"] == 70.0


def test_a_week_that_the_question_gives_stands_for_the_workloads() -> None:
    even = [[1.0] * 24] * 7
    mix = {"mix": "conversation", "rate_req_per_s": 20, "requests": 500, "seed": 1, "week": ONE_BUSY_HOUR}
    workload = {"synthetic": mix, "week": even}
    one = subject(families=["sarathi:dgx-h100"], counts={"mixed": [8]}, workload=workload)
    found = analyse("week_hours", one, LAB, {})
    assert {hour["rate_req_per_s"] for hour in found["hours"]} == {70.0}
    assert found["assumptions"][0]["text"].endswith("the others: the question's own week.")
    with pytest.raises(SpecError, match=r"workload\.week: found 6 days, expected 7, Monday first"):
        subject(workload={"synthetic": mix, "week": even[:6]})


def test_a_trace_of_a_week_has_hours_of_its_own() -> None:
    hours = [hour for hour in range(169) for _ in range(3 if hour == 5 else 1)]
    arrivals = np.array(hours, np.int64) * 3600 * 10**12
    ones = np.ones(len(hours), np.int64)
    trace = Trace.of("week", arrivals, ones * 10, ones * 2)
    assert week_hours._hourly(trace)[4:7] == [1.0, 3.0, 1.0]


def test_a_study_without_capacities_has_no_week() -> None:
    with pytest.raises(SpecError, match="no week to look at"):
        analyse("week_hours", subject(each=0.0), LAB, {})


def test_the_section_has_two_charts_and_a_row_a_day() -> None:
    found = shown("week_hours", told())
    assert [chart.id for chart in found.charts] == ["week-used", "week-on"]
    assert [row.cells[0].text for row in found.tables[0].rows] == ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    assert found.sentences[1].startswith("With 2 to 7 machines on as the hours need, and 432 s")


def test_replicas_that_span_machines_are_switched_as_a_whole() -> None:
    mix = {"mix": "conversation", "rate_req_per_s": 20, "requests": 500, "seed": 1, "week": ONE_BUSY_HOUR}
    two = {"tensor_parallel": 8, "pipeline_parallel": 2, "token_budget": 512}
    spanning = subject(
        model="llama-3.1-70b",
        latency={"source": "roofline"},
        scheduler_options=two,
        families=["sarathi:dgx-h100"],
        counts={"mixed": [9]},
        workload={"synthetic": mix},
    )
    found = analyse("week_hours", spanning, LAB, {})
    assert [size["machines"] for size in found["sizes"]] == [2, 4, 6, 9]
