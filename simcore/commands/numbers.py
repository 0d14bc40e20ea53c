"""Numbers given on the command line; argparse puts the option's name before the message."""

from __future__ import annotations

import argparse
import re

MOST = 10_000_000
"""Tokens of one request or chunk, as in a trace."""
MOST_PARAMETERS = 10**15
MOST_RATE_REQ_PER_S = 1_000_000
"""As in a study."""


def count(text: str) -> int:
    """A whole number from 1."""
    return whole(text, least=1)


def parameters(text: str) -> int:
    """A model's parameters: a whole number from 1."""
    return whole(text.replace(",", "").replace("_", ""), least=1, most=MOST_PARAMETERS)


def whole(text: str, least: int, most: int = MOST) -> int:
    """A whole number in plain digits, ``least`` to ``most`` (ten million)."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)) or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"found {text[:40]!r}, expected a whole number from {least} to {most}")
    return int(text)


def seed(text: str) -> int:
    """A whole number from 0."""
    return whole(text, least=0)


def rate(text: str) -> float:
    """A decimal number of requests/s above 0."""
    if not re.fullmatch(r"[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?", text[:40]) or not 0 < float(text) <= MOST_RATE_REQ_PER_S:
        raise argparse.ArgumentTypeError(
            f"found {text[:40]!r}, expected a number of requests/s above 0, at most {MOST_RATE_REQ_PER_S}"
        )
    return float(text)


def contexts(text: str) -> list[int]:
    """``1000,2000``: cached tokens of each decode; empty for none."""
    return [whole(part, least=0) for part in text.split(",")] if text else []


def chunks(text: str) -> list[tuple[int, int]]:
    """``512,256@4096``: new tokens of each prefill chunk, over the cached tokens after ``@``; empty for none."""
    return [_chunk(part) for part in text.split(",")] if text else []


def _chunk(text: str) -> tuple[int, int]:
    new, at, cached = text.partition("@")
    return whole(new, least=1), whole(cached, least=0) if at else 0
