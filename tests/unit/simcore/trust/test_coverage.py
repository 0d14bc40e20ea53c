"""Whether intervals are as wide as they claim: each measured place predicted from all the others."""

from collections.abc import Iterator

import pytest

from simcore.trust import phase_error as rules
from simcore.trust.groups import error_groups, pooled
from simcore.trust.phase_error import LEVEL, PHASES


def left_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, bool]]:
    """Each place and phase that was measured, and whether its mean error lies within what the other places claim."""
    for engine in ("kernel", "vllm-2023", "vllm-2026"):
        every = error_groups(engine)
        for phase, names in PHASES.items():
            for place in {group.place for group in every if group.phase in names}:
                others = tuple(group for group in every if group.place != place)
                monkeypatch.setattr(rules, "error_groups", lambda engine, others=others: others)
                claimed = rules.phase_error(place, phase, engine)
                if claimed is not None:
                    mean, _ = pooled([group for group in every if group.place == place and group.phase in names])
                    yield f"{phase} of {place}, {engine}", -claimed.shorter <= mean <= claimed.longer


def test_left_out_places_lie_within_what_the_others_claim(monkeypatch):
    found = dict(left_out(monkeypatch))
    outside = [place for place, within in found.items() if not within]
    assert len(found) > 50
    assert len(outside) <= (1 - LEVEL) * len(found), outside
