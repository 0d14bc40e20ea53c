"""Lengths as people type them: ``P50 1,020; P90 2,735``, ``median 129, sigma 0.9``, or a single number of tokens."""

import re
from typing import Any

EXPECTED = "percentiles such as ‘P50 1,020; P99 4,142’, ‘median 129; sigma 0.9’, ‘mean 211; sigma 0.9’, or one number"
NAME = r"(p\s*\d+(?:\.\d+)?|median|mean|sigma|least|most|min|max)"
PIECE = re.compile(NAME + r"\s*[:= ]\s*([\d.,'_ ]+?)\s*(?:tokens)?", re.I)
NUMBER = re.compile(r"\d{1,3}(?:[,'_ ]\d{3})+|\d+(?:\.\d+)?")
ALIKE = {"min": "least", "max": "most"}


def parsed(text: str) -> dict[str, Any]:
    """The JSON of a LengthSpec, not yet checked. ValueError says what was found and what is expected."""
    if NUMBER.fullmatch(text.strip()):
        return {"percentiles": {"50": _number(text)}}
    found: dict[str, Any] = {}
    percentiles: dict[str, float] = {}
    for piece in re.split(r"[;/\n]|,(?!\d)", text):
        if not piece.strip():
            continue
        match = PIECE.fullmatch(piece.strip())
        if match is None or not NUMBER.fullmatch(match[2].strip()):
            raise ValueError(f"Found ‘{piece.strip()}’, expected {EXPECTED}.")
        name, value = match[1].lower().replace(" ", ""), _number(match[2])
        if name.startswith("p"):
            percentiles[name.removeprefix("p")] = value
        else:
            found[ALIKE.get(name, name)] = value
    if not found and not percentiles:
        raise ValueError(f"Found nothing, expected {EXPECTED}.")
    return found | ({"percentiles": percentiles} if percentiles else {})


def _number(text: str) -> int | float:
    plain = re.sub(r"[,'_ ]", "", text.strip())
    return float(plain) if "." in plain else int(plain)
