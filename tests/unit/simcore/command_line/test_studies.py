"""``capacity`` and ``plan``."""

import csv
import json

import pytest

from simcore.__main__ import main
from tests.unit.simcore.command_line.cases import CASE, REFUSED, REPAIRED, UNCLEAN, refused, said
from tests.unit.simcore.runs import CURVE


def test_capacity_finds_a_rate(files, capsys):
    assert main(["capacity", "case.json", "--trace", "trace.csv", "--summary", "out.json"]) == 0
    figures = json.loads((files / "out.json").read_text())
    assert figures["capacity_low"] <= figures["capacity_req_per_s"] <= figures["capacity_high"]
    assert figures["capacity_req_per_s"] > 1
    assert figures["slo"]["met"]
    assert figures["binding_pool"] == "mixed"
    assert figures["mean_w"] < figures["nameplate_w"]
    assert figures["arrivals"]["how"] == "trace"
    assert figures["arrivals"]["rate_req_per_s"] == pytest.approx(figures["capacity_req_per_s"])
    assert set(figures["arrivals"]["index_of_dispersion"]) == {"1_s", "10_s", "60_s"}


STUDY = {
    "model": "llama2-7b",
    "workload": {"trace": "trace.csv"},
    "rate_req_per_s": 5,
    "machines": [{"machine": "dgx-h100"}],
    "families": ["sarathi:dgx-h100"],
    "scheduler_options": {"token_budget": 512, "tensor_parallel": 8},
    "latency": CURVE,
    "slo": CASE["slo"],
    "counts": {"mixed": [1, 2]},
}


def test_plan_writes_a_row_a_design_and_the_frontiers(files, capsys):
    (files / "study.json").write_text(json.dumps(STUDY))
    assert main(["plan", "study.json", "--out", "made/results"]) == 0
    rows = list(csv.DictReader((files / "made/results/designs.csv").read_text().splitlines()))
    assert sorted(row["mixed_machines"] for row in rows) == ["1", "2"]
    assert all(row["status"] == "evaluated" and float(row["capacity_req_per_s"]) > 1 for row in rows)
    frontier = json.loads((files / "made/results/frontier.json").read_text())
    assert frontier["winner"] in {row["design_id"] for row in rows}
    assert frontier["warnings"] == []


def test_a_degree_between_the_fewest_and_the_most_is_the_answer_where_it_is_listed(files, capsys):
    """Llama-2-70B fits from TP2 on. One machine holds 45 requests/s in replicas of TP4 alone."""
    lengths = "".join(f"{i * 0.2:.1f},{200 + i * 7 % 300},{40 + i * 3 % 60}\n" for i in range(300))
    (files / "trace.csv").write_text("arrival_s,prompt_tokens,output_tokens\n" + lengths)
    limit = {"metric": "tbt_s", "percentile": 99, "limit": 0.06}
    study = {
        **STUDY,
        "model": "llama2-70b",
        "rate_req_per_s": 45,
        "latency": {"source": "roofline"},
        "slo": {"kind": "absolute", "limits": [limit]},
    }
    winners = {}
    for name, options in (("listed", {"tensor_parallels": [1, 2, 4, 8]}), ("as before", {})):
        (files / "study.json").write_text(json.dumps({**study, "scheduler_options": {"token_budget": 512, **options}}))
        assert main(["plan", "study.json", "--out", name]) == 0
        rows = list(csv.DictReader((files / name / "designs.csv").read_text().splitlines()))
        winner = json.loads((files / name / "frontier.json").read_text())["winner"]
        winners[name] = next(row for row in rows if row["design_id"] == winner)
        if options:
            told = [row for row in rows if row["status"] == "infeasible"]
            assert [row["tensor_parallel"] for row in told] == ["1"]
            assert "llama2-70b does not fit dgx-h100 at tensor_parallel 1" in told[0]["reason"]
    listed, before = winners["listed"], winners["as before"]
    assert (listed["tensor_parallel"], listed["mixed_machines"]) == ("4", "1")
    assert (before["tensor_parallel"] in ("2", "8"), before["mixed_machines"]) == (True, "2")
    assert float(listed["usd_per_hour"]) < float(before["usd_per_hour"])


def test_a_price_book_of_one_s_own_stands_in_place_of_an_id(files, capsys):
    own = {"id": "offer", "name": "Offer", "date": "2026-11", "prices": [{"machine": "dgx-h100", "usd_per_hour": 12.5}]}
    (files / "study.json").write_text(json.dumps({**STUDY, "prices": own, "counts": {"mixed": [2]}}))
    assert main(["plan", "study.json"]) == 0
    row = next(csv.DictReader((files / "designs.csv").read_text().splitlines()))
    assert float(row["usd_per_hour"]) == 25.0
    assert "Offer" in json.loads((files / "frontier.json").read_text())["answer"][0]["detail"]
    (files / "study.json").write_text(json.dumps({**STUDY, "prices": {**own, "prices": []}}))
    assert main(["plan", "study.json"]) == 2
    assert "has no price for 'dgx-h100'" in capsys.readouterr().err


def test_capacity_and_plan_count_rows_left_out(files):
    (files / "trace.csv").write_text(UNCLEAN)
    (files / "study.json").write_text(json.dumps({**STUDY, "counts": {"mixed": [1]}}))
    assert main(["capacity", "case.json", "--trace", "trace.csv", "--summary", "out.json"]) == 0
    assert main(["plan", "study.json"]) == 0
    for name in ("out.json", "frontier.json"):
        warnings = json.loads((files / name).read_text())["warnings"]
        assert said(warnings, REFUSED)
        assert said(warnings, REPAIRED)


def test_a_bad_study_is_refused_in_one_line(files, capsys):
    (files / "study.json").write_text(json.dumps({**STUDY, "families": ["sarathi:dgx-h10"]}))
    assert "study.json: families: 'sarathi:dgx-h10'" in refused(capsys, "plan", "study.json")
    (files / "study.json").write_text(json.dumps({**STUDY, "workload": {"trace": "no.csv"}}))
    assert "no.csv: found No such file" in refused(capsys, "plan", "study.json")
    assert "case.json: found a file, expected a folder" in refused(capsys, "plan", "study.json", "--out", "case.json")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rate_req_per_s", 1e300, "rate_req_per_s: found 1e+300, expected at most 1000000"),
        ("counts", {"mixed": [0]}, "counts.mixed[0]: found 0, expected at least 1"),
        ("counts", {"decode": [2, -3]}, "counts.decode[1]: found -3, expected at least 1"),
        ("seeds", [0, -1], "seeds[1]: found -1, expected at least 0"),
        ("workload", {}, "workload.trace: give exactly one of trace and synthetic"),
        ("workload", {"trace": "a\0b"}, "found 'a\\x00b', expected text without a zero byte"),
        ("latency", {"source": "calibrated"}, "latency.path: missing, expected the LATENCY.json"),
        ("slo", {"kind": "slowdown"}, "slo.reference_latency: missing"),
        (
            "machines",
            [{"machine": "dgx-h100", "latency": {"source": "calibrated"}}],
            "machines[0].latency.path: missing, expected the LATENCY.json",
        ),
    ],
)
def test_a_study_without_an_answer_is_refused_at_once(files, capsys, key, value, message):
    (files / "study.json").write_text(json.dumps({**STUDY, key: value}))
    assert f"study.json: {message}" in refused(capsys, "plan", "study.json")
