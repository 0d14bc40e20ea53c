"""The neighbourhood when asked for: what is missing nearby is simulated, and the map has it."""

from dataclasses import replace

from simcore.analyses import analyse, kind_of, parameters_of
from simcore.analyses.kind import Run
from simcore.evaluation import Evaluation
from simcore.spec import Case, SpecError
from tests.unit.simcore.analyses.subjects import NOTHING, MadeUp, held, rate_result, subject

COUNTS = {"mixed": [4, 5, 7, 8, 10], "prefill": [7], "decode": [7]}


def machines(case: Case) -> int:
    return sum(pool.machines or 0 for pool in case.pools)


def lab(each: float = 10.0, at_rate: bool = True) -> MadeUp:
    def run(case: Case, rate: float) -> Run:
        return Run(rate_result(rate, met=at_rate), *[NOTHING] * 5)

    return MadeUp(lambda case: held(each * machines(case)), run)


def cells(told: dict) -> dict[int, dict]:
    return {cell["counts"][0]: cell for row in told["cells"] for cell in row}


def asked(each: float = 10.0, families: tuple[str, ...] = ("sarathi:dgx-h100",)):
    return subject(each=each, counts=COUNTS, families=list(families))


def test_before_it_is_asked_for_the_map_is_of_what_the_study_knows() -> None:
    about = asked()
    kind = kind_of("neighbourhood")
    given = parameters_of(kind, {})
    assert kind.before is not None
    told = kind.before(about, given, kind.task(about, given))
    assert told["missing"] == 2
    assert cells(told)[6]["capacity_req_per_s"] is None
    assert cells(told)[7]["state"] == "holds"
    assert "no capacity yet" in " ".join(told["sentences"])


def test_asked_for_the_missing_ones_nearby_are_simulated() -> None:
    told = analyse("neighbourhood", asked(), lab(), {})
    assert cells(told)[6]["capacity_req_per_s"] == 60
    assert cells(told)[6]["state"] == "misses"
    assert cells(told)[9]["capacity_req_per_s"] == 90
    assert cells(told)[9]["state"] == "holds"
    assert told["missing"] == 0


def test_a_rate_near_the_capacity_is_decided_by_a_run_at_it() -> None:
    close = MadeUp(lambda case: held(70.5), lab(at_rate=False).run)
    told = analyse("neighbourhood", asked(), close, {})
    assert cells(told)[6]["state"] == "misses"
    assert not any("comes before" in text for text in told["sentences"])


def test_one_found_that_comes_before_the_answer_is_said() -> None:
    told = analyse("neighbourhood", asked(), MadeUp(lambda case: held(80.0), lab().run), {})
    assert any("6 DGX H100" in text and "comes before it" in text for text in told["sentences"])


def test_one_that_cannot_run_says_why() -> None:
    def capacity(case: Case) -> Evaluation:
        raise SpecError("it does not fit")

    told = analyse("neighbourhood", asked(), MadeUp(capacity, lab().run), {})
    assert cells(told)[6]["words"] == "it does not fit"
    assert cells(told)[6]["capacity_req_per_s"] is None


def test_nothing_is_simulated_where_all_is_known() -> None:
    about = subject(counts={"mixed": [5, 6, 7, 8, 9], "prefill": [7], "decode": [7]}, families=["sarathi:dgx-h100"])
    kind = kind_of("neighbourhood")
    task = kind.task(about, parameters_of(kind, {}))
    assert kind.cpu_s(task, about.statistics) == 0
    assert kind.told(about, parameters_of(kind, {}), task, {})["missing"] == 0


def test_the_map_is_of_the_closest_miss_where_nothing_holds() -> None:
    about = asked(each=1.0)
    told = analyse("neighbourhood", replace(about), lab(1.0), {})
    assert not told["is_answer"]
    assert told["sentences"][0].startswith("Around the closest miss, ")
