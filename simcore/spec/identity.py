"""What of a case its ids and store keys are hashes of: a field that came later counts only where it is set."""

from __future__ import annotations

from typing import Any

from simcore.spec.decode import encode

LATER = frozenset({"measured_as"})
"""Optional fields that came after ids were first given out, of the case and all in it: unset they are left out, so that
a design without them keeps its id. Whoever adds one to a dataclass of a case names it here."""


def identity(value: Any) -> Any:
    """A dataclass as ``encode`` has it, without the ``LATER`` fields that are not set."""
    return _set_only(encode(value))


def _set_only(plain: Any) -> Any:
    if isinstance(plain, dict):
        return {name: _set_only(value) for name, value in plain.items() if value is not None or name not in LATER}
    return [_set_only(value) for value in plain] if isinstance(plain, list) else plain
