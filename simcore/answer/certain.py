"""Whose order is certain, though their capacities are not: no machine more or less follows from what is not known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import le

from simcore.evaluation import Design
from simcore.fleet import pool_machines, spanned
from simcore.rows import DesignRow
from simcore.spec import Case, StudySpec
from simcore.trust.ties import kind_of


def cannot_turn(first: DesignRow, second: DesignRow, case: Case, spec: StudySpec) -> bool:
    """Whether the first surely needs no more machines and the second (``case``) can do with no fewer: what is compared
    is then as it is told. Of the most held it never is."""
    rate, held = spec.rate_req_per_s, first.capacity_low or 0.0
    return spec.goal != "throughput" and held >= rate and _can_be_no_smaller(second, case, rate, spec.failures)


def may_turn(
    winner: DesignRow,
    meeting: Sequence[DesignRow],
    figures: Mapping[str, float],
    designs: Mapping[str, Design],
    spec: StudySpec,
) -> list[DesignRow]:
    """Those of what meets the question that may come before the answer by what is not known, or that the goal calls
    equal (``figures``: what it compares). Not those beside a smaller one of their own kind that surely holds the rate:
    whoever buys that kind buys the smaller."""
    sure: dict[Hashable, list[tuple[int, ...]]] = {}
    for row in meeting:
        if (row.capacity_low or 0.0) >= spec.rate_req_per_s:
            sure.setdefault(kind_of(row), []).append(_counts(designs[row.design_id]))

    def is_open(row: DesignRow) -> bool:
        design = designs[row.design_id]
        if figures[row.design_id] <= figures[winner.design_id] or spec.goal == "throughput":
            return True
        own = _counts(design)
        smaller = any(counts != own and all(map(le, counts, own)) for counts in sure.get(kind_of(row), []))
        return not (smaller and (winner.capacity_low or 0.0) >= spec.rate_req_per_s) and not cannot_turn(
            winner, row, design.case, spec
        )

    return [row for row in meeting if is_open(row)]


def _counts(design: Design) -> tuple[int, ...]:
    return tuple(pool_machines(pool) for pool in design.case.pools)


def _can_be_no_smaller(row: DesignRow, case: Case, rate_req_per_s: float, failures: int) -> bool:
    """One replica a pool beside those that may be lost; or of one pool so many that without one even its interval's
    high end is under the rate: a replica less holds less than in proportion."""
    if all(pool_machines(pool) <= (1 + failures) * spanned(pool) for pool in case.pools):
        return True
    if len(case.pools) > 1 or row.capacity_high is None:
        return False
    each = spanned(case.pools[0])
    machines = pool_machines(case.pools[0]) - failures * each
    return row.capacity_high * (machines - each) / machines < rate_req_per_s
