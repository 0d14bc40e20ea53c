"""What a kind of analysis is made of.

``task`` takes from the study all that the figures depend on; ``run`` simulates that, and nothing else, so studies with
the same task share one run; ``told`` puts it into words for this study, with its prices, whenever it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from simcore.answer.result import StudyResult
from simcore.evaluation import Evaluation, RateResult
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.search.context import Context
from simcore.slo.distribution import Distribution
from simcore.spec import Case, SpecError
from simcore.survival import any_lost_words

Json = dict[str, Any]
P = TypeVar("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Subject:
    """What is asked about: a study's answer so far, and what its workload asks for."""

    result: StudyResult
    statistics: WorkloadStatistics
    context: Callable[[], Context] | None = None
    """The question with its candidates, made when asked for: what was never tried follows from it. None: not known."""


@dataclass(frozen=True)
class Run:
    """A case simulated at one rate, measured over the middle 10 to 90 % of arrivals."""

    result: RateResult
    ttft_s: Distribution
    tbt_s: Distribution
    tpot_s: Distribution
    e2e_s: Distribution
    queue_s: Distribution
    least_slo_multiplier: float | None = None
    """The least multiple of the case's SLO that it holds at this rate (``simcore.slo.slack``); None: it holds none."""


def sourced(said: Iterable[tuple[str, str]]) -> list[Json]:
    """``assumptions`` of texts, each with where it is from, which may be empty."""
    return [{"text": text, "source": source} for text, source in said]


def told_of(kind: Kind[Any, Any], subject: Subject, parameters: Any, task: Any, found: Json) -> Json:
    """What a kind tells, with what it leaves out of the question."""
    said: Json = kind.told(subject, parameters, task, found)
    failures = subject.result.spec.failures
    if not failures or not kind.all_machines:
        return said
    lost = (
        f"All machines are there: what is held{any_lost_words(failures)}, as the question asks, is in the answer, not"
        " here."
    )
    return said | {"assumptions": [*said.get("assumptions", []), *sourced([(lost, "docs/question.md")])]}


def refuse_failures(subject: Subject) -> None:
    """Of a kind that finds designs of its own: SpecError where the question asks for what survives losses."""
    if failures := subject.result.spec.failures:
        raise SpecError(
            f"failures: found {failures}, expected 0: the designs that this looks for are simulated with all their"
            " machines, not without those that must be survived"
        )


class Lab(Protocol):
    """Simulates the workload's requests. It is handed to a kind, so that whoever only asks brings no engine in; each
    call is a step of its progress, and may raise to stop."""

    @property
    def statistics(self) -> WorkloadStatistics:
        """Of the workload."""

    def with_lengths(self, prompts: float, outputs: float) -> Lab:
        """The same over requests whose lengths are multiplied (``simcore.traces.stretch``)."""

    def holds(self, case: Case, rate_req_per_s: float) -> bool:
        """Whether it holds a rate, by one run, given up as soon as it does not. SpecError where it cannot run."""

    def capacity(self, case: Case) -> Evaluation:
        """What the case can hold under its own seed (``simcore.capacity.find``). SpecError where it cannot run."""

    def run(self, case: Case, rate_req_per_s: float) -> Run:
        """How it does at a rate. SpecError where it cannot run."""

    def detail(self, case: Case, rate_req_per_s: float, longer_than_s: float | None) -> Json:
        """The run at a rate in detail (``simcore.detail``). SpecError where it cannot run."""

    def costing(self, case: Case, rate_req_per_s: float, capacity_req_per_s: float) -> Json:
        """What money takes of the runs at a rate and beyond a capacity (``simcore.detail.costing``)."""

    def failure(self, case: Case, rate_req_per_s: float, pool: int, machines: int) -> Json:
        """A run at a rate in which so many machines of a pool fail (``simcore.detail.failure``)."""

    def rack_watts(self, case: Case, rate_req_per_s: float, most: Sequence[int]) -> list[Json]:
        """What racks of up to so many machines of each pool draw at a rate (``simcore.detail.racks``)."""


@dataclass(frozen=True)
class Field:
    """A parameter that people may set."""

    name: str
    label: str
    unit: str
    help: str
    """What it does, and where its default is from."""
    choices: Callable[[Subject], Sequence[tuple[str, str]]] | None = None
    """Values and their names, where it is one of some."""


@dataclass(frozen=True)
class Kind(Generic[P, T]):
    """A kind of analysis; ``docs/architecture.md`` says how one is added."""

    name: str
    title: str
    about: str
    """What it says, in a sentence, for whoever has not asked yet."""
    parameters: type[P]
    """A frozen dataclass of JSON values, each with a default."""
    task_type: type[T]
    """A frozen dataclass: cases, rates and other figures; no money and no names."""
    task: Callable[[Subject, P], T]
    """SpecError where the study has nothing to ask this of, with the reason."""
    cpu_s: Callable[[T, WorkloadStatistics], float]
    """CPU seconds of one core that ``run`` takes, about; 0: it is told at once, and nothing is stored."""
    steps: Callable[[T], int]
    """How often ``run`` calls the lab."""
    run: Callable[[T, Lab], Json]
    """What is stored: plain JSON, the same for all studies with this task."""
    told: Callable[[Subject, P, T, Json], Json]
    """Figures, ``sentences`` and ``assumptions`` (each a text, and a source where it has one) for one study."""
    fields: tuple[Field, ...] = ()
    before: Callable[[Subject, P, T], Json] | None = None
    """What is said before it is asked for, where something is."""
    all_machines: bool = False
    """It simulates designs with all their machines, none lost, whatever the question says must be survived."""
    needs_input: bool = False
    """Whether nothing can be said until some parameter is given: the form alone stands there."""
    listed: bool = True
    """Whether it is a section of every result; else it is asked for where it belongs, as in a design's panel."""
