"""Answered questions and a lab that makes up what it finds, for tests of analyses (the engine is not asked)."""

from collections.abc import Callable, Sequence
from typing import Any

from simcore.analyses import Subject
from simcore.analyses.kind import Run
from simcore.answer.result import study_result
from simcore.catalogue import price_book
from simcore.evaluation import Evaluation, LimitResult, RateResult
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.slo.distribution import Distribution
from simcore.spec import Case, PriceBook, StudySpec
from simcore.study import context, load_trace
from tests.unit.simcore.questions import linear, question

NOTHING = Distribution(None, None, None, None, None, None)


def rate_result(rate: float, met: bool = True, stable: bool = True, **changes: float) -> RateResult:
    limits = (LimitResult("ttft_slowdown", 90, 3.0, 2.0 if met else 4.0, met),)
    figures = {"mean_w": 1000.0, "p99_w": 1500.0, "input_tokens_per_s": 900.0, "output_tokens_per_s": 100.0}
    return RateResult(rate, met, stable, limits, (), **{**figures, **changes})


def held(rate: float, low: float | None = None, high: float | None = None) -> Evaluation:
    """What a case can hold, with the noise of its simulation."""
    ends = (rate if low is None else low, rate if high is None else high)
    return Evaluation("", "evaluated", "", rate, *ends, "ttft_p99", "mixed", rate_result(rate) if rate else None)


def times(p50: float, p90: float, p99: float) -> Distribution:
    return Distribution(p50, p50, p90, p90, p99, p99)


def nobody(*_: object) -> Any:
    raise AssertionError("this is not simulated")


class MadeUp:
    """A lab by rules."""

    def __init__(
        self,
        capacity: Callable[[Case], Evaluation] = nobody,
        run: Callable[[Case, float], Run] = nobody,
        rack_watts: Callable[[Case, float, Sequence[int]], list[dict[str, Any]]] = nobody,
        failure: Callable[[Case, float, int, int], dict[str, Any]] = nobody,
    ) -> None:
        self.capacity, self.run, self.rack_watts, self.failure = capacity, run, rack_watts, failure


def subject(book: PriceBook | None = None, each: float = 10.0, **changes: object) -> Subject:
    """A study whose designs hold ``each`` requests/s a machine of each pool: all candidates of a small grid."""
    spec: StudySpec = question(**{"counts": {"mixed": [4, 7, 8], "prefill": [7], "decode": [7]}, **changes})
    asked = context(spec, load_trace(spec))
    designs = [asked.design(index) for index in range(len(asked.candidates.counts))]
    found = {d.design_id: linear(d, (each,) * len(d.case.pools), spec.rate_req_per_s) for d in designs}
    result = study_result(spec, designs, found, book or price_book("list"))
    return Subject(result, WorkloadStatistics.of(asked.trace))
