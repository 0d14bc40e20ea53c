"""Questions and made-up capacities, for tests of what is done with evaluations (the engine is not asked)."""

from collections.abc import Callable
from dataclasses import fields
from math import inf

from simcore.evaluation import Design, Evaluation, LimitResult, RateResult, RateRun, Trial
from simcore.search import parts
from simcore.search.counts import Counts
from simcore.search.parts import CapacityUnder, Outcome, Part, TrialAt, next_part
from simcore.spec import StudySpec, decode_study
from simcore.study import Context, context, load_trace, next_designs
from simcore.survival import Lost

MACHINES = ("dgx-a100", "dgx-h100", "dgx-h100-pcap")


def question(**changes: object) -> StudySpec:
    """BLOOM, the conversation mix at 70 requests/s on measured step times, within 408 kW nameplate."""
    plain = {
        "model": "bloom-176b",
        "workload": {"synthetic": {"mix": "conversation", "rate_req_per_s": 70, "requests": 500, "seed": 1}},
        "rate_req_per_s": 70,
        "machines": [{"machine": machine} for machine in MACHINES],
        "latency": {"source": "measured"},
        "scheduler_options": {"token_budget": 512},
        "limits": {"power_limit_kw": 408},
        "families": ["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-a100"],
    }
    return decode_study({**plain, **changes})


class Unbounded(Context):
    """Whose designs hold whatever a test makes up: nothing is proven of them."""

    def bound_of(self, place: int, counts: Counts) -> float:
        return inf


def asked(**changes: object) -> Context:
    found = bounded(**changes)
    return Unbounded(**{field.name: getattr(found, field.name) for field in fields(found)})


def bounded(**changes: object) -> Context:
    """With the fluid bounds of its designs."""
    spec = question(**changes)
    return context(spec, load_trace(spec))


def linear(design: Design, each: tuple[float, ...], rate: float = 70.0) -> Evaluation:
    """A design whose pools each hold so many requests/s a machine."""
    held = [pool.machines * per for pool, per in zip(design.case.pools, each, strict=True)]
    capacity = min(held)
    return evaluation(design, capacity, design.case.pools[held.index(capacity)].role, rate)


def evaluation(design: Design, capacity: float, pool: str = "mixed", rate: float = 70.0) -> Evaluation:
    met = capacity >= rate
    limits = (LimitResult("ttft_slowdown", 90, 3.0, 2.5 if met else 3.6, met),)
    at_required = RateResult(rate, met, True, limits, (), 1000.0, 1500.0, 1.0, 1.0)
    at_capacity = RateResult(
        capacity, True, True, (LimitResult("ttft_slowdown", 90, 3.0, 2.97, True),), (), 1100.0, 1600.0, 1.0, 1.0
    )
    return Evaluation(
        design.design_id,
        "evaluated",
        "",
        capacity,
        capacity,
        capacity,
        "ttft_slowdown_p90",
        pool,
        at_capacity if capacity else None,
        at_required,
        (),
        9,
        90_000,
    )


def explored(asked_: Context, each: dict[str, tuple[float, ...]]) -> tuple[list[Design], dict[str, Evaluation]]:
    """All work items of a study whose families hold so many requests/s a machine."""
    designs: list[Design] = []
    done: dict[str, Evaluation] = {}
    while wave := next_designs(asked_, done):
        designs += wave
        done |= {
            design.design_id: told(design, asked_, linear(design, each[design.family], asked_.spec.rate_req_per_s))
            for design in wave
        }
    return designs, done


def told(
    design: Design, asked_: Context, known: Evaluation, less: Callable[[Lost], Evaluation] | None = None
) -> Evaluation:
    """What a worker says of a work item, of which all is known; ``less``: of what is left of it after a loss."""
    has: dict[Part, Outcome] = {}
    while (part := next_part(design, asked_, has)) is not None:
        of_all = known if not part.lost or less is None else less(part.lost)
        if isinstance(part, TrialAt):
            rate = part.rate_req_per_s
            held = of_all.holds(rate) if design.rate_only else of_all.capacity_req_per_s >= rate
            has[part] = Trial(held, 1, 500, 2500)
        elif isinstance(part, CapacityUnder):
            has[part] = of_all
        else:
            has[part] = RateRun(of_all.at_required)
    return parts.told(design, asked_, has)
