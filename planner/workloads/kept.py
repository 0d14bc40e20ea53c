"""What of an uploaded file is kept as a workload, and what is not, in sentences."""

from collections.abc import Iterable
from typing import Any

from planner.workloads.models import Workload
from simcore.words import listed

UNUSED = "unused column"


def kept_words(workload: Workload) -> list[str]:
    """Of an upload; nothing of a mix."""
    if workload.report is None:
        return []
    return [
        f"Kept: arrival, prompt tokens and output tokens of {_requests(workload.requests)}"
        f"{''.join(f'; {part}' for part in _extras(workload.summary))}.",
        f"Not kept: {listed(list(_left(workload.report)))}.",
    ]


def _extras(summary: dict[str, Any]) -> Iterable[str]:
    figures = summary["statistics"]
    if cached := figures["cached_prompt_tokens"]:
        yield f"cached prompt tokens ({cached / figures['prompt_tokens']['total']:.0%} of the prompt tokens)"
    if limited := figures["requests_with_max_output_tokens"]:
        yield f"max_output_tokens of {_requests(limited)}"
    for name, different in summary.get("texts", {}).items():  # not counted before they were shown
        yield f"the {name} of each ({different:,} different)"


def _left(report: dict[str, Any]) -> Iterable[str]:
    if refused := report["refused_rows"]:
        yield f"{refused:,} refused row{'' if refused == 1 else 's'}"
    unused = [
        issue["field"] or "one without a name" for issue in report["repaired"]["listed"] if issue["kind"] == UNUSED
    ]
    if unused:
        yield f"column{'' if len(unused) == 1 else 's'} {', '.join(unused)}"
    yield "the file itself"


def _requests(number: int) -> str:
    return f"{number:,} request{'' if number == 1 else 's'}"
