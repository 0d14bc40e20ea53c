"""What an interval is of, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simcore.catalogue import resolve_accelerator, resolve_machine, resolve_model
from simcore.rows import DesignRow
from simcore.spec import Case
from simcore.trust.margins import Margin
from simcore.trust.phase_error import PHASES
from simcore.trust.power_error import has_own_power, power_error
from simcore.trust.ties import MERITS
from simcore.trust.time_error import span
from simcore.words import listed, number

MOST_NAMED, MOST_LINES = 3, 6
PHASES_OF = {"prefill": ("prefill",), "decode": ("decode",)}


def interval_words(row: DesignRow, least_high: float = 0.0) -> str:
    """`` (66 to 80)``, up to ``least_high`` at least; empty where a capacity has no interval."""
    low, high = row.capacity_low, row.capacity_high
    if low is None or high is None or low == high:
        return ""
    return f" ({number(low) if low else 'none'} to {number(max(high, least_high))})"


def interval_parts(case: Case, row: DesignRow, margin: Margin) -> str:
    """What the interval is made of; empty where a capacity has none."""
    if not interval_words(row):
        return ""
    noise = (number(row.noise_low or 0), number(row.noise_high or 0))
    chance = f"chance in the simulation ({noise[0]} to {noise[1]})" if noise[0] != noise[1] else ""
    times = f"iteration times ({'; '.join(f'{name}: {spans}' for name, spans in times_by_curve(case, margin))})"
    return f"the interval, 9 times in 10, joins {listed([part for part in (chance, times) if part])}"


def times_by_curve(case: Case, margin: Margin) -> list[tuple[str, str]]:
    """Of each curve once: how true times may differ from predicted ones, in the phases of its pools."""
    found: dict[str, dict[str, None]] = {}
    for pool, error in zip(case.pools, margin.errors, strict=True):
        name = f"{resolve_machine(pool.machine).name} TP{pool.tensor_parallel}"
        found.setdefault(name, {})[error.spans(PHASES_OF.get(pool.role, tuple(PHASES)))] = None
    return [(name, ", ".join(spans)) for name, spans in found.items()]


def evidence_words(margin: Margin) -> str:
    """What the iteration times of a design's pools were compared with."""
    found = dict.fromkeys(error.basis for error in margin.errors if error.basis)
    return f"the answer's times compared with {listed(list(found))}" if found else ""


def power_words(case: Case) -> str:
    """How far off drawn watts of a design's accelerators may be."""
    model = resolve_model(case.model)
    found: dict[str, None] = {}
    for pool in case.pools:
        machine = resolve_machine(pool.machine)
        error = power_error(model, machine, pool.tensor_parallel, pool.latency or case.latency)
        if error is not None:
            own = ", brought to its own figures (a power log's) and then as far as loads differ," * has_own_power(
                machine
            )
            found[f"of {resolve_accelerator(machine).name}{own} {span(error)}"] = None
    return f"drawn watts {listed(list(found))}, measured against predicted" if found else ""


def confidence_words(
    rate_req_per_s: float, winner: DesignRow, surest: DesignRow | None, does: str = "", more: str = ""
) -> str:
    """What it takes to hold the required rate at the interval's low end too: ``does``, for so much ``more``; of a much
    larger or another design also about how large the answer's own kind would be."""
    rate = f"{number(rate_req_per_s)} requests/s"
    if surest is not None and surest.design_id == winner.design_id:
        return f"at the interval's low end too it holds {rate}"
    enough = _enlarged(rate_req_per_s, winner)
    will = f"{does}{f': {more}' if more else ''}" if surest else "no design tried within the limits will do"
    tried = f"for 90 % confidence at {rate} {will}"
    if surest is not None and surest.family == winner.family and machines_of(surest) <= sum(enough.values()):
        return tried
    return f"{tried}{_enlarged_words(enough) if enough else ''}"


def _enlarged(rate_req_per_s: float, winner: DesignRow) -> dict[str, int]:
    """Machines by role of the answer made so much larger as its interval's low end falls short; empty where no rate
    holds there. A pool of more machines holds in proportion, or a little more."""
    low = winner.capacity_low
    if not low:
        return {}
    return {role: math.ceil(round(count * rate_req_per_s / low, 6)) for role, count in _counts(winner).items()}


def _enlarged_words(machines: dict[str, int]) -> str:
    roles = [f"{count:,} {role if len(machines) > 1 else ''}".strip() for role, count in machines.items()]
    return f"; by its interval's share about {listed(roles)} machines of the answer's kind would (not simulated)"


def machines_of(row: DesignRow) -> int:
    """All of a design's machines."""
    return sum(_counts(row).values())


def _counts(row: DesignRow) -> dict[str, int]:
    every = {"prefill": row.prefill_machines, "decode": row.decode_machines, "mixed": row.mixed_machines}
    return {role: count for role, count in every.items() if count}


def tie_words(goal: str, tied: list[str], kinds: int, alike: bool = False, certain: bool = False) -> str:
    """Which other kinds of design are tied with the answer, of so many; empty where there are none. ``alike``: one of
    them needs as little of what the goal is about. ``certain``: one that costs more stays so whatever is held."""
    if not kinds:
        return ""
    if not tied and certain:
        return "No other is tied with the answer, whatever the capacities are within their intervals."
    if not tied:
        return f"No other's interval of {MERITS[goal]} reaches the answer's."
    are = "is" if len(tied) == 1 else "are"
    named = tied if len(tied) <= MOST_NAMED else [*tied[: MOST_NAMED - 1], f"{len(tied) - MOST_NAMED + 1} more"]
    first = {"power": "the least power", "machines": "the least number of machines", "throughput": "the most held"}
    then = f", of equals {'the least cost' if goal == 'machines' else 'the most held'}" if alike else ""
    return (
        f"{listed(named)} {are} tied with the answer: what is known of simulation and times does not tell their"
        f" {MERITS[goal]} apart; {first.get(goal, 'the least cost')} decides{then}."
    )


def outside_words(found: Sequence[str]) -> str:
    """The banner of what no measurement covers; empty where all is covered."""
    if not found:
        return ""
    more = f"; and {len(found) - MOST_LINES} more" if len(found) > MOST_LINES else ""
    return f"Outside what was measured: {'; '.join(found[:MOST_LINES])}{more}."
