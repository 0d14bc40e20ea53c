"""What ``make bench`` prints: one JSON object a line, with the figures that docs/performance.md explains."""

import json
from dataclasses import replace

import pytest

from benchmarks import cases, compare, engine, figures, load, measure, tables
from simcore.engine.compile import compile_case
from simcore.spec import decode_case


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_line_tells_the_calibration_beside_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    measure.report("engine", case="x", cpu_s=0.123456)
    (line,) = printed(capsys)
    assert line["cpu_s"] == 0.1235
    assert 0 < line["calibration_s"] < 10


def test_every_case_has_a_name_of_its_own_and_can_run() -> None:
    every = [*cases.all_cases(), cases.large()]
    assert len({case.name for case in every}) == len(every)
    assert {*cases.AGAINST_ORACLE, *cases.MEMORY} <= {case.name for case in every}
    for bench in every:
        assert bench.plain is None or bench.plain in {case.name for case in every}
        decode_case(bench.case)


def test_goals_of_the_engine_are_all_measured() -> None:
    names = {case.name for case in cases.all_cases()}
    for kind in ("sarathi-512", "sarathi-2048", "vllm", "vllm_v1", "orca"):
        for mix in ("conversation", "coding"):
            assert {f"replica/{kind}/{mix}/{percent}" for percent in (50, 80, 95)} <= names


@pytest.mark.parametrize("name", ["replica/vllm/coding/80", "splitwise/25+15/coding/80"])
def test_speed_of_a_case(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (bench,) = [replace(case, requests=200) for case in cases.all_cases() if case.name == name]
    engine.speeds([bench], runs=1)
    (line,) = printed(capsys)
    assert line["benchmark"] == "engine"
    assert line["case"] == name
    assert line["requests"] == 200
    assert line["events"] >= 2 * 200
    assert line["ns_per_event"] == pytest.approx(line["cpu_s"] / line["events"] * 1e9, rel=1e-3)
    assert 0 < line["busy"] <= 1


def test_load_is_a_share_of_what_the_cluster_works_off() -> None:
    (bench,) = [case for case in cases.all_cases() if case.name == "replica/vllm/coding/80"]
    assert load.rate_of(replace(bench, load_percent=40)) == pytest.approx(load.rate_of(bench) / 2)
    assert load.rate_of(replace(bench, copies=3, saturates=bench.case)) == pytest.approx(3 * load.rate_of(bench))
    inputs = compile_case(decode_case(bench.case), load.trace_of(replace(bench, requests=3000)))
    assert 0.9 < engine.busy(inputs, engine.fast.run(inputs)) <= 1


def test_comparison_takes_out_a_slower_machine() -> None:
    before = [{"benchmark": "engine", "case": "a", "requests": 5, "cpu_s": 2.0, "calibration_s": 0.1}]
    after = [{"benchmark": "engine", "case": "a", "requests": 5, "cpu_s": 6.0, "calibration_s": 0.2}]
    found = compare.ratios(*({compare.key_of(line): line for line in lines} for lines in (before, after)))
    assert found == [(("engine", "a", "5"), "cpu_s", pytest.approx(1.5))]
    other = {compare.key_of({**before[0], "requests": 6}): before[0]}
    assert compare.ratios(other, {compare.key_of(line): line for line in after}) == []


def test_figures_of_the_page_are_those_of_the_lines() -> None:
    lines = [
        {"benchmark": "machine", **measure.machine(), "engine_version": "abc", "calibration_s": 0.04},
        {"benchmark": "start", "case": "python", "cpu_s": 0.5, "calibration_s": 0.05},
        {"benchmark": "start", "case": "python", "cpu_s": 0.012, "calibration_s": 0.05},
    ]
    page = figures.figures(lines)
    assert "engine abc; the calibration loop took 40 to 40 ms." in page
    assert "| python | 0.01 |" in page
    assert "0.50" not in page
    assert "### Engine" not in page


def test_a_figure_that_a_line_lacks_leaves_its_cell_empty() -> None:
    table = tables.Table(
        "Engine", ("engine",), {"case": "{case}", "ratio": "{ratio:.2f}", "both": "{cpu_s:.1f}, {ratio}"}
    )
    lines = [
        {"benchmark": "engine", "case": "a", "ratio": None, "cpu_s": 1.0},
        {"benchmark": "engine", "skipped": "no Redis"},
    ]
    assert table.text(lines).splitlines()[3:] == ["| a |  |  |"]
    assert table.text(lines[1:]) == ""
