"""The panel of one design."""

from dataclasses import replace

import pytest

from planner.studies.names import family_names
from planner.studies.page import hollow_designs
from planner.studies.panel import LIMIT_AT, Panel, design_panel
from simcore.answer.result import StudyResult, study_result
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation, LimitResult, PhaseResult, PoolResult, RateResult
from tests.unit.simcore.questions import asked, explored

EACH = {"sarathi:dgx-h100": (2.5,), "splitwise:dgx-h100+dgx-a100": (8.0, 6.0)}
PHASES = (PhaseResult("prefill", 0.5, 0.45, 0.2), PhaseResult("decode", 0.2, 0.05, 0.9))
POOL = PoolResult(
    "mixed", "dgx-h100", 3, 3, 0.8, 0.5, 0.2, 0.1, 0.05, 0.05, 0.3, 0.4, 0.7, 0.0, 0.04, 0.06, phases=PHASES
)


def result(**changes: object) -> StudyResult:
    question = asked(**changes)
    designs, evaluations = explored(question, EACH)
    return study_result(question.spec, designs, evaluations, price_book("list"))


@pytest.fixture
def found() -> StudyResult:
    return result()


def shown(found: StudyResult, design_id: str, run: RateResult) -> Panel:
    evaluations = {**found.evaluations, design_id: replace(found.evaluations[design_id], at_required=run)}
    changed = replace(found, evaluations=evaluations)
    row = changed.row(design_id)
    assert row is not None
    return design_panel(changed, row)


def run(*limits: LimitResult, pools: tuple[PoolResult, ...] = ()) -> RateResult:
    return RateResult(70, all(limit.met for limit in limits), True, limits, pools, 1000.0, 1500.0, 80_000.0, 15_000.0)


def test_bars_run_from_0_to_the_limit_and_somewhat_beyond(found: StudyResult) -> None:
    limits = (
        LimitResult("ttft_slowdown", 90, 3.0, 1.5, True),
        LimitResult("tbt_slowdown", 99, 5.0, 6.0, False),
        LimitResult("tbt_slowdown", 50, 1.25, 99.0, False),
        LimitResult("e2e_slowdown", 99, 5.0, None, False),
    )
    at = shown(found, found.rows[0].design_id, run(*limits)).limits[0]
    assert at.title == "At the required 70 requests/s"
    assert [bar.width for bar in at.bars] == [LIMIT_AT / 2, round(LIMIT_AT * 1.2, 2), 100.0, 100.0]
    assert [bar.beyond for bar in at.bars] == [False, False, True, True]
    assert (at.bars[0].name, at.bars[0].value, at.bars[0].limit) == ("P90 TTFT slowdown", "1.5×", "3×")
    assert at.bars[3].value == "unbounded"


def test_a_pools_time_adds_up(found: StudyResult) -> None:
    pool = shown(found, found.rows[0].design_id, run(pools=(POOL,))).pools[0]
    assert [part.activity for part in pool.slices] == [
        "prefill", "hybrid", "decode", "bubble", "blocked", "transfer_wait", "idle",
    ]  # fmt: skip
    assert pool.slices[-1].x + pool.slices[-1].width == pytest.approx(100)
    assert pool.machine == "DGX H100"
    assert ("busy", "80 %") in pool.facts
    assert "NIC busy" not in dict(pool.facts)
    assert "padding" not in dict(pool.facts)
    assert pool.phases == (("prefill", "MFU 45 %, MBU 20 %"), ("decode", "MFU 5 %, MBU 90 %"))
    assert [part.words for part in pool.slices if part.activity == "transfer_wait"] == ["waiting for KV 6 %"]


def test_what_would_be_written_as_nothing_is_left_out(found: StudyResult) -> None:
    phases = (*PHASES[:1], replace(PHASES[1], busy=0.0004))
    pool = replace(POOL, decode=0.0004, idle=0.2996, padding=0.63, phases=phases)
    line = shown(found, found.rows[0].design_id, run(pools=(pool,))).pools[0]
    assert "decode" not in [part.activity for part in line.slices]
    assert [phase for phase, _ in line.phases] == ["prefill"]
    assert ("padding", "63 % of the tokens computed") in line.facts


def test_money_is_named_machine_by_machine(found: StudyResult) -> None:
    split = next(row for row in found.rows if row.prefill_machines)
    lines = shown(found, split.design_id, run()).money
    assert [line.words.split(" at ")[0] for line in lines] == [
        f"{split.prefill_machines} DGX H100",
        f"{split.decode_machines} DGX A100",
        "All machines",
    ]
    assert lines[-1].hourly == f"${split.usd_per_hour:,}"


def test_the_verdict_says_why_not(found: StudyResult) -> None:
    assert found.winner is not None
    assert design_panel(found, found.winner).verdict == "This is the answer."
    small = min(found.rows, key=lambda row: row.capacity_req_per_s or 0)
    assert design_panel(found, small).verdict.startswith("Not the answer: ")


def test_designs_beyond_a_limit_are_hollow_and_those_that_hold_too_little_are_not() -> None:
    found = result(limits={"power_limit_kw": 100})
    hollow = hollow_designs(found)
    assert hollow
    for row in found.rows:
        assert (row.design_id in hollow) == (row.nameplate_w > 100_000 and row.status == "evaluated")


def test_families_are_named_without_what_all_machines_share(found: StudyResult) -> None:
    names = family_names(found.spec)
    assert names["sarathi:dgx-h100"] == "Sarathi, H100"
    assert names["splitwise:dgx-h100+dgx-a100"] == "Split, H100 + A100"
    assert {row.family for row in found.rows} <= set(names)


def test_a_screened_design_says_what_it_can_hold_at_most(found: StudyResult) -> None:
    name = next(row.design_id for row in found.rows if row is not found.winner)
    beaten = Evaluation(name, "screened", "a better one uses no more", capacity_high=18.83)
    again = study_result(found.spec, list(found.designs.values()), {**found.evaluations, name: beaten}, found.book)
    row = again.row(name)
    assert row is not None
    assert ("Can hold", "at most 18.8 requests/s") in design_panel(again, row).facts
    assert "Can hold" not in dict(design_panel(found, found.rows[0]).facts)


def test_facility_power_stands_beside_what_is_drawn(found: StudyResult) -> None:
    facts = dict(design_panel(found, found.rows[0]).facts)
    drawn, facility = facts["Drawn, mean"], facts["Facility: drawn mean × PUE 1.54"]
    assert float(facility.split()[0]) == pytest.approx(1.54 * float(drawn.split()[0]), rel=0.01)


def test_a_panel_says_how_sure_its_capacity_is_and_by_what(found: StudyResult) -> None:
    row = next(row for row in found.rows if row.family.startswith("splitwise") and row.capacity_req_per_s)
    facts = dict(design_panel(found, row).certainty)
    assert facts["Capacity"].endswith(" requests/s")
    assert facts["DGX H100 TP8"] == "prefills ±8 %"
    assert facts["DGX A100 TP8"] == "decodes ±3 %"
    assert "Against the answer" not in facts
    tied = replace(row, tied_with_answer=True)
    assert dict(design_panel(found, tied).certainty)["Against the answer"] == "tied by what is known"


def test_a_design_without_a_capacity_claims_nothing(found: StudyResult) -> None:
    assert design_panel(replace(found, margins={}), found.rows[0]).certainty == ()
