"""Reading uploaded power logs, keeping what they say, and offering it to questions."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from planner.accounts import audit
from planner.accounts.models import Team, User
from planner.accounts.owned import Visitor
from planner.power_logs.models import PowerLog
from simcore.catalogue import POWERED, known_as, resolve_accelerator
from simcore.measurements import Content
from simcore.measurements.power_logs.figures import figures, over_time
from simcore.measurements.power_logs.read import read_power_contents
from simcore.serving_power.report import REPLACED, LoggedRun, calibrated, compared, report, time_in_log
from simcore.spec import Machine, SpecError, encode

PREFIX = "power-"
"""Of a log's key among a question's figures of drawn power."""
MOST_POINTS = 300
"""Of watts over time."""
FIELDS = {
    "--utc-offset": "the field UTC offset",
    "--interval": "the field Seconds between rows",
    "--max-gap": "the field Longest gap",
    "--from, --to": "Start and End",
    "--from": "Start",
    "--to": "End",
    "--tensor-parallel": "Tensor parallel",
}
"""The command line's words → the form's."""


@dataclass(frozen=True)
class Asked:
    """How logs are to be read."""

    offset_s: float | None
    interval_s: float | None
    max_gap_s: float
    start: str | None
    end: str | None


@dataclass(frozen=True)
class Read:
    """What logs say, and the machine with it where the run is known."""

    report: dict[str, Any]
    machine: Machine
    fitted: Machine | None


def read(texts: Sequence[Content], asked: Asked, machine: Machine, run: LoggedRun | None) -> Read:
    """SpecError says what cannot be read, or cannot have been drawn in that run."""
    log = read_power_contents(texts, asked.offset_s, asked.interval_s, asked.max_gap_s)
    offset_s = asked.offset_s or 0.0
    start, end = (
        time_in_log(option, text, offset_s, log) for option, text in (("--from", asked.start), ("--to", asked.end))
    )
    found = figures(log, asked.max_gap_s, start, end, resolve_accelerator(machine).tdp_w)
    told = report(log, found, [text.name for text in texts], offset_s)
    told["watts_over_time"] = over_time(log, found, asked.max_gap_s, MOST_POINTS)
    told["flags"]["each"] = [encode(flag) for flag in log.flags.listed]
    if run is None:
        return Read(told, machine, None)
    calibration = calibrated(run, found)
    told["prediction"] = compared(run, calibration, found)
    told["run"] = {
        "model": run.model.id,
        "tensor_parallel": run.tensor_parallel,
        "concurrency": run.concurrency,
        "prompt_tokens": run.prompt_tokens,
        "output_tokens": run.output_tokens,
        "engine": run.latency.engine,
    }
    return Read(told, machine, calibration.machine)


@transaction.atomic
def save(team: Team, user: User, name: str, done: Read) -> PowerLog:
    """The team's row."""
    made = PowerLog.objects.create(
        team=team,
        created_by=user,
        name=name,
        machine=done.machine.id,
        accelerator=resolve_accelerator(done.machine).id,
        report=done.report,
        content="" if done.fitted is None else json.dumps(encode(done.fitted), indent=1, ensure_ascii=False),
    )
    audit.record(
        team,
        user,
        "uploaded",
        made,
        audit.made(audit.values(made, ("name", "machine", "accelerator", "content", "report"))),
        name=name,
    )
    return made


def offered(user: Visitor) -> list[tuple[str, str]]:
    """Key and words of each log with a machine that the user sees, for a question to choose from."""
    rows = PowerLog.objects.visible_to(user).exclude(content="").values_list("pk", "name", "accelerator")
    return [(f"{PREFIX}{pk}", f"Logged: {name} ({accelerator})") for pk, name, accelerator in rows]


def with_logged_power(user: Visitor, key: str, machines: Sequence[Machine]) -> list[Machine]:
    """The machines, those of the log's accelerator with the figures that it shows; SpecError where the user sees no
    such log, or no machine has its accelerator."""
    number = key.removeprefix(PREFIX)
    rows = PowerLog.objects.visible_to(user).exclude(content="")
    log = rows.filter(pk=number).first() if number.isdecimal() and len(number) < 19 else None
    if log is None:
        raise SpecError(f"found '{key}', expected one of your team's power logs: it may have been deleted")
    devices = [resolve_accelerator(machine) for machine in machines]
    logged = [log.accelerator in known_as(device, POWERED) for device in devices]
    if not any(logged):
        raise SpecError(f"found {log.name}, which is of {log.accelerator}; no machine chosen has it")
    measured = resolve_accelerator(log.fitted())
    figures_of_it = {name: getattr(measured, name) for name in REPLACED}
    return [
        replace(machine, accelerator=replace(own, **figures_of_it)) if is_logged else machine
        for machine, own, is_logged in zip(machines, devices, logged, strict=True)
    ]
