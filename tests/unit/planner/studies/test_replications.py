"""A study of several seeds: the others for close designs only, stored by seed, merged in the study's own copies."""

from collections.abc import Callable

import pytest

from planner.studies import stored
from planner.studies.leases import State
from planner.studies.models import Evaluation, Study
from planner.studies.results import study_result
from tests.unit.planner.studies.conftest import Counted

Start = Callable[[], Study]
Work = Callable[..., int]
SEEDS = [0, 5, 9]


def with_seeds(study: Study) -> Study:
    Study.unscoped.filter(pk=study.pk).update(spec=study.spec | {"seeds": SEEDS}, question_key="several seeds")
    study.refresh_from_db()
    return study


@pytest.fixture(autouse=True)
def wide_intervals(counted: Counted) -> None:
    counted.noise = 0.05


def test_only_close_designs_are_searched_under_the_other_seeds(start: Start, work: Work, counted: Counted) -> None:
    study = with_seeds(start())
    work()
    study.refresh_from_db()
    assert (study.state, study.error) == (State.DONE, "")
    found = stored.evaluations_of(study)
    close = [name for name, evaluation in found.items() if evaluation.replications]
    assert 0 < len(close) < len(counted.calls)
    assert sorted(counted.seeds) == sorted(close * 2)
    assert Evaluation.objects.filter(kind="capacity").count() == len(counted.calls) + len(counted.seeds)
    for name in close:
        assert [one.seed for one in found[name].replications] == SEEDS
        at_rate = counted.trials.count(name) + (found[name].at_required is not None)
        assert found[name].simulations == 3 * 8 + at_rate
        row = study_result(study).row(name)
        assert row is not None
        assert (row.noise_low, row.noise_high) == (found[name].capacity_low, found[name].capacity_high)
    assert study.designs.count() == len({*counted.calls, *counted.beaten, *counted.asked})


def test_a_repeated_study_of_several_seeds_computes_nothing_and_says_the_same(
    start: Start, work: Work, counted: Counted
) -> None:
    first = with_seeds(start())
    work()
    calls = (len(counted.calls), len(counted.seeds))
    second = with_seeds(start())
    work()
    assert (len(counted.calls), len(counted.seeds)) == calls
    assert stored.evaluations_of(first) == stored.evaluations_of(second)


@pytest.mark.parametrize("after", [1, 4, 8])
def test_a_study_of_several_seeds_goes_on_where_its_worker_stopped(
    start: Start, work: Work, counted: Counted, after: int
) -> None:
    study = with_seeds(start())
    work(after)
    work()
    study.refresh_from_db()
    assert study.state == State.DONE
    assert len(counted.seeds) == len({*counted.seeds}) * 2
    assert counted.designs == study.designs.count()
