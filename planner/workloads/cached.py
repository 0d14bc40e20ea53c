"""What a prefix cache would have held of a trace's prompts, in words, and which cache a draft is saved with."""

from collections.abc import Sequence
from typing import Any

from planner.workloads.models import Workload
from planner.workloads.services import SHARES
from simcore.traces.inspect import WITHOUT_END

NONE = "none: every prompt is computed whole"
MOST = (
    "It is the most that can be cached: one cache for all machines together, to which requests come in order, and in"
    " which a block is as soon as its request has come. Caches of single machines hold less."
)


def cache_choices(draft: Workload) -> list[tuple[str, str]]:
    """None first; empty for a file that says nothing of its prompts."""
    found = _shares(draft)
    return (
        [
            ("", NONE),
            *((_key(one), f"{_size(one).removeprefix('of ')}: {one['share']:.0%} of prompt tokens") for one in found),
        ]
        if (found)
        else []
    )


def cache_words(workload: Workload) -> list[str]:
    """Of a workload whose prompts are cached so, or a draft that may be saved so."""
    report = workload.report or {}
    if known := report.get("prefix_cache"):
        return [
            f"Cached prompt tokens are what a prefix cache {_size(known)} would have held, by the file's hash_ids:"
            f" {known['share']:.0%} of all. {MOST}"
        ]
    if found := _shares(workload):
        return [
            f"Its hash_ids say which blocks of 512 tokens prompts have in common: a prefix cache {_size(found[-1])}"
            f" would have held {found[-1]['share']:.0%} of the prompt tokens. None are counted as cached unless you"
            f" choose a cache below. {MOST}"
        ]
    return []


def _shares(workload: Workload) -> Sequence[dict[str, Any]]:
    return (workload.report or {}).get(SHARES, ()) if workload.draft else ()


def _key(one: dict[str, Any]) -> str:
    return WITHOUT_END if one["cache_tokens"] is None else str(one["cache_tokens"])


def _size(one: dict[str, Any]) -> str:
    return "without end" if one["cache_tokens"] is None else f"of {one['cache_tokens']:,} tokens"
