"""Curves and powers of a cluster's replicas, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simcore.engine.fast.energy import Power, power_of
from simcore.engine.inputs import ReplicaInputs
from simcore.latency.curve import IterationCurve


@dataclass(frozen=True)
class Physics:
    """What there is, in the order of the replicas; and of each replica which it has."""

    curves: list[IterationCurve]
    powers: list[Power]
    pairs: list[tuple[int, int]]
    """Curve and power that go together."""
    curve_of: list[int]
    power_of: list[int]
    pair_of: list[int]

    @classmethod
    def of(cls, replicas: Sequence[ReplicaInputs]) -> Physics:
        """Replicas are mostly alike: each object is compared with others once, not once a replica."""
        curves: dict[IterationCurve, int] = {}
        powers: dict[Power, int] = {}
        pairs: dict[tuple[int, int], int] = {}
        seen: dict[tuple[int, ...], tuple[int, int]] = {}
        of_each = []
        for replica in replicas:
            alike = id(replica.curve), id(replica.power_tokens), id(replica.power_mw)
            if alike not in seen:
                curve = curves.setdefault(replica.curve, len(curves))
                seen[alike] = curve, powers.setdefault(power_of(replica), len(powers))
                pairs.setdefault(seen[alike], len(pairs))
            of_each.append(seen[alike])
        return cls(
            list(curves),
            list(powers),
            list(pairs),
            [curve for curve, _ in of_each],
            [power for _, power in of_each],
            [pairs[pair] for pair in of_each],
        )
