"""The compiled walks: counts of any range of requests, then sums and brackets of its finished ones."""

from __future__ import annotations

from simcore.engine.fast.jit import entry
from simcore.engine.fast.layout import numbers, smalls
from simcore.engine.outputs import FINISHED, REFUSED, UNFINISHED
from simcore.engine.tally.brackets import keep
from simcore.engine.tally.records import BATCH, counts_row, requests_row, walk_row
from simcore.engine.tally.sums import add_up
from simcore.engine.tally.waits import fill


@entry
def count(requests_at: int, counts_at: int) -> None:
    """``Counts`` of ``Requests``, given their addresses."""
    requests, counts = requests_row(requests_at, 0), counts_row(counts_at, 0)
    finished = refused = unfinished = several = several_finished = preemptions = preempted = 0
    output_tokens = finished_prompt = finished_output = longest_prompt = longest_output = 0
    for i in range(requests.first, requests.end):
        status, again = smalls(requests.status)[i], smalls(requests.preemptions)[i]
        prompt, output = numbers(requests.prompt_tokens)[i], numbers(requests.output_tokens)[i]
        done, has_second = int(status == FINISHED), int(output >= 2)
        finished, refused = finished + done, refused + int(status == REFUSED)
        unfinished += int(status == UNFINISHED)
        several, several_finished = several + has_second, several_finished + (has_second & done)
        preemptions, preempted = preemptions + again, preempted + int(again != 0)
        output_tokens += output
        finished_prompt, finished_output = finished_prompt + prompt * done, finished_output + output * done
        longest_prompt, longest_output = max(longest_prompt, prompt), max(longest_output, output)
    counts.finished, counts.refused, counts.unfinished = finished, refused, unfinished
    counts.several, counts.several_finished = several, several_finished
    counts.preemptions, counts.preempted = preemptions, preempted
    counts.output_tokens = output_tokens
    counts.finished_prompt_tokens, counts.finished_output_tokens = finished_prompt, finished_output
    counts.longest_prompt, counts.longest_output = longest_prompt, longest_output


@entry
def walk_over(requests_at: int, walk_at: int) -> None:
    """The sums, and the brackets' values, given the addresses of ``Requests`` and ``Walk``."""
    requests, walk = requests_row(requests_at, 0), walk_row(walk_at, 0)
    span, seen, start = BATCH * requests.stride, 0, requests.first
    while start < requests.end:
        filled, several = fill(walk, requests, start, min(start + span, requests.end))
        add_up(walk, filled, several, seen)
        keep(walk, filled, several)
        seen += filled
        start += span
