"""What was found of curve and power for a kind of batch and a number of tokens, remembered.

A row a kind and number of tokens, modulo the length of the table: it says of how many tokens it tells; 0: of none, as
a micro-batch has some. Replicas with the same curve and power share a table.
"""

from __future__ import annotations

from simcore.engine.fast.curve import base_ps
from simcore.engine.fast.energy import power_mw
from simcore.engine.fast.jit import inlined, step
from simcore.engine.fast.layout import row_of
from simcore.engine.fast.replica_state import Replica, curve_at
from simcore.engine.fast.state import KINDS_OF_BATCH, Cluster

TOKENS_REMEMBERED = 4096


class Known:
    """Of batches of one kind and number of tokens."""

    tokens: int
    base_ps: int
    """Their time but for what depends on contexts."""
    power_mw: int
    """Of one stage."""


known_row = row_of(Known)


@inlined
def recall(cluster: Cluster, replica: Replica, kind: int, tokens: int) -> Known:
    """What is known of batches of a kind and number of tokens; found out where it is not."""
    row = (replica.known * KINDS_OF_BATCH + kind) * TOKENS_REMEMBERED + (tokens & (TOKENS_REMEMBERED - 1))
    known = known_row(cluster.known, row)
    if known.tokens != tokens:
        find_out(cluster, replica, kind, tokens, known)
    return known


@step
def find_out(cluster: Cluster, replica: Replica, kind: int, tokens: int, known: Known) -> None:
    """Look it up on curve and power."""
    known.tokens = tokens
    known.base_ps = base_ps(curve_at(cluster, replica), cluster.curve_knots, kind, tokens)
    known.power_mw = power_mw(cluster.power_knots, replica.first_power_knot, replica.power_knots, kind, tokens)
