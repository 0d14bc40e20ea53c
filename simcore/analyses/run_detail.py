"""One run of a design at the rate, in detail: how its times are spread, its busiest minute, where generation stalls.

All figures are of ``simcore.detail``, over the same requests as the study's own run (docs/measurement.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simcore.analyses.chosen import best_design
from simcore.analyses.kind import Json, Kind, Lab, Subject
from simcore.catalogue import resolve_machine
from simcore.fluid.workload_statistics import WorkloadStatistics
from simcore.rows import DesignRow
from simcore.search.cost import predicted_cpu_s
from simcore.spec import Case, SpecError, bounded
from simcore.words import counted, limit_value, number, percent

RUNS = 3.0
"""The run, once more with its minute logged, and what is made of both."""
CANNOT_RUN = ("infeasible", "failed")
TAILS = (50, 99)


@dataclass(frozen=True)
class Parameters:
    """``design``: an id of the study; None: the answer, or what comes closest."""

    design: str | None = None
    rate_req_per_s: float | None = bounded(None, above=0, most=1_000_000)
    """None: the question's."""
    longer_than_s: float | None = bounded(None, above=0, most=3600)
    """What counts as a generation stall; None: by the SLO (docs/measurement.md)."""


@dataclass(frozen=True)
class Task:
    """What is simulated."""

    case: Case
    rate_req_per_s: float
    longer_than_s: float | None


def task(subject: Subject, parameters: Parameters) -> Task:
    """Any design that can run, one that was only screened too."""
    row = _design(subject, parameters)
    rate = parameters.rate_req_per_s or subject.result.spec.rate_req_per_s
    return Task(subject.result.designs[row.design_id].case, rate, parameters.longer_than_s)


def cpu_s(task: Task, statistics: WorkloadStatistics) -> float:
    """A run, and again."""
    return predicted_cpu_s(task.case, statistics, RUNS)


def run(task: Task, lab: Lab) -> Json:
    """Its detail."""
    return lab.detail(task.case, task.rate_req_per_s, task.longer_than_s)


def told(subject: Subject, parameters: Parameters, task: Task, found: Json) -> Json:
    """With the design's and its machines' names."""
    row = _design(subject, parameters)
    names = {machine.id: machine.name for machine in (resolve_machine(pool.machine) for pool in task.case.pools)}
    return {
        **found,
        "design_id": row.design_id,
        "design": row.label,
        "machine_names": names,
        "sentences": [text for text in (_tails(found), _minute(found), _stalls(found), _sent(found)) if text],
        "assumptions": _assumptions(found),
    }


def _design(subject: Subject, parameters: Parameters) -> DesignRow:
    if parameters.design is None:
        best = best_design(subject.result)
        if best is None:
            raise SpecError("no design of this study was evaluated: there is no run to look into")
        return best
    row = subject.result.row(parameters.design)
    if row is None:
        raise SpecError(f"parameters.design: found '{parameters.design}', expected the id of a design of this study")
    if row.status in CANNOT_RUN:
        raise SpecError(f"parameters.design: {row.label} cannot run ({row.reason}), expected one that can")
    return row


def _tails(found: Json) -> str:
    """TTFT and TBT in seconds."""
    if not found["stable"]:
        return (
            f"At {number(found['rate_req_per_s'])} requests/s the queue grows: every time below would be worse later."
        )
    said = []
    for cdf in found["cdfs"]:
        if cdf["metric"] in ("ttft_s", "tbt_s"):
            at = dict(zip(cdf["percentiles"], cdf["values"], strict=True))
            name = {"ttft_s": "first token", "tbt_s": "between tokens"}[cdf["metric"]]
            said.append(f"{name} {_both(cdf['metric'], [at[p] for p in TAILS])}")
    return f"At {number(found['rate_req_per_s'])} requests/s, median and P99: {'; '.join(said)}."


def _both(metric: str, values: Sequence[float | None]) -> str:
    return " and ".join(limit_value(metric, value) for value in values)


def _minute(found: Json) -> str:
    line = found["timeline"]
    longest = max(line["queue"])
    present = [sum(at) for at in zip(line["queue"], line["prefilling"], line["decoding"], strict=True)]
    return (
        f"In the busiest {number(line['until_s'] - line['from_s'])} s, from {number(line['from_s'])} s into the run,"
        f" {number(sum(present) / len(present))} requests are present on average; at most {number(longest)} wait."
    )


def _stalls(found: Json) -> str:
    stalls = found["stalls"]
    what = f"longer than {limit_value('tbt_s', stalls['threshold_s'])} ({stalls['threshold_words']})"
    if not stalls["count"]:
        return f"No generation stall in it: no wait of decodes for prompts is {what}."
    worst = stalls["longest"][0]
    return (
        f"{counted(stalls['count'], 'generation stall')} in it, {what}: the longest"
        f" {limit_value('tbt_s', worst['end_s'] - worst['start_s'])}, while"
        f" {counted(worst['waiting'], 'request')} waited for a token on replica {worst['replica']}."
    )


def _sent(found: Json) -> str:
    sent = found["kv_sent"]
    if not sent["prompts"]:
        return ""
    busy = max(pool["nic_busy"] for pool in found["pools"])
    return f"KV sent between pools: {number(sent['bytes_per_s'] / 1e9)} GB/s; the busiest pool’s NICs {percent(busy)}."


def _assumptions(found: Json) -> list[Json]:
    return [
        {
            "text": f"{found['requests']:,} requests are simulated, times are over the {found['measured']:,} that"
            " arrive in the middle 10 to 90 %.",
            "source": "docs/measurement.md",
        },
        {"text": f"The minute shown is {found['window_rule']}.", "source": "docs/measurement.md, A run in detail"},
        {
            "text": "KV in the timeline counts tokens that are there, coming evenly from iteration to iteration; what"
            " is only reserved does not count.",
            "source": "",
        },
    ]


KIND = Kind(
    name="run_detail",
    all_machines=True,
    title="The run in detail",
    about="How long first tokens and later ones take, and the busiest minute: queue, batch, KV memory, watts, and"
    " where generation stalls.",
    parameters=Parameters,
    task_type=Task,
    task=task,
    cpu_s=cpu_s,
    steps=lambda task: 1,
    run=run,
    told=told,
    listed=False,
)
