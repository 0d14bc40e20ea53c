"""A power log's page in words and tables; what is said here is said without any script."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from planner.calibrations.page import PLURALS
from planner.calibrations.services import in_fields
from planner.power_logs.figures import Figure, watts_figure
from planner.power_logs.models import PowerLog
from planner.power_logs.services import FIELDS
from simcore.words import counted

Row = Sequence[str]
NAMES = {
    "idle_w": "idle, W",
    "power_base": "base, share of TDP − idle",
    "power_by_mbu": "by MBU",
    "power_by_mfu": "by MFU",
}
MOST_IN_TABLE = 60


@dataclass(frozen=True)
class PowerLogPage:
    DRAWN: ClassVar = ("device", "mean, W", "P50, W", "P99, W", "idle, W", "energy, kJ", "coverage")
    PREDICTION: ClassVar = ("", "W", "off by")
    COEFFICIENTS: ClassVar = ("figure", "shipped", "measured", "factor")
    WATTS: ClassVar = ("seconds", "W, all used devices")

    log: PowerLog
    origin: str
    lines: Sequence[str]
    drawn: Sequence[Row]
    reasons: Sequence[str]
    prediction: Sequence[Row]
    """Measured, before, after; none where nothing was said of the run."""
    coefficients: Sequence[Row]
    figure: Figure | None
    watts: Sequence[Row]
    watts_words: str
    missing: Sequence[str]
    flagged: Sequence[str]
    flags: Sequence[dict[str, Any]]

    @property
    def name(self) -> str:
        return self.log.name


@dataclass(frozen=True)
class ListRow:
    log: PowerLog
    mean: str
    before: str


def listed(log: PowerLog) -> ListRow:
    prediction = log.report.get("prediction")
    return ListRow(
        log, _watts(log.report["all"]["mean_w"]), f"{prediction['error_before']:+.1%}" if prediction else "–"
    )


def power_log_page(log: PowerLog) -> PowerLogPage:
    said = log.report
    prediction, points = said.get("prediction"), said["watts_over_time"]
    return PowerLogPage(
        log,
        _origin(log),
        list(_lines(said)),
        list(_drawn(said)),
        [
            f"{device['label']}: {in_fields(reason, FIELDS)}."
            for device in said["devices"]
            for reason in device["reasons"]
        ],
        _prediction(prediction) if prediction else [],
        [_coefficient(prediction, name) for name in NAMES] if prediction else [],
        watts_figure(points, said["all"]["mean_w"]) if points else None,
        [[f"{at:,.0f}", _watts(watts)] for at, watts in points[:: -(-len(points) // MOST_IN_TABLE) or 1]],
        _watts_words(said),
        [f"{what}: {count:,}" for what, count in said["missing"]["by_what_stood_there"].items()],
        [f"{PLURALS[effect] if n > 1 else effect}: {n:,}" for effect, n in said["flags"]["counted"].items() if n],
        [flag | {"reason": in_fields(flag["reason"], FIELDS)} for flag in said["flags"]["each"]],
    )


def _origin(log: PowerLog) -> str:
    said = log.report
    used = sum(device["used"] for device in said["devices"])
    unused = len(said["devices"]) - used
    idle = f", {unused} more not used" if unused else ""
    formats = " and ".join(dict.fromkeys(said["formats"]))
    return f"{formats}: {counted(used, 'device')} of {log.machine}{idle}, {said['rows']:,} rows."


def _lines(said: dict[str, Any]) -> Iterator[str]:
    window = said["window"]
    start, end = (f"{at:,.4g} s" if isinstance(at, int | float) else at for at in (window["from"], window["to"]))
    yield f"The run: {start} to {end}, {window['seconds']:,.4g} s, by {in_fields(window['by'], FIELDS)}."
    yield f"Times: {in_fields(said['times'], FIELDS)}."
    if said["watts_are"]:
        yield f"Watts are {said['watts_are']}. They are the accelerators' alone: no host, no fans, no switches."
    run = said.get("run")
    if run:
        yield (
            f"It served {run['model']} with {run['engine']}, tensor parallel {run['tensor_parallel']}:"
            f" {run['concurrency']:,.4g} requests in flight, prompts of {run['prompt_tokens']:,} and outputs of"
            f" {run['output_tokens']:,} tokens."
        )
    else:
        yield "Nothing was said of the run, so there is no prediction to compare with, and questions do not offer it."


def _watts_words(said: dict[str, Any]) -> str:
    known = [watts for _, watts in said["watts_over_time"] if watts is not None]
    if not known:
        return "No second of the run is covered by samples of every used device."
    gaps = len(said["watts_over_time"]) - len(known)
    missing = f"; {counted(gaps, 'point')} without samples of every device" if gaps else ""
    return (
        f"All used devices together drew {min(known):,.0f} to {max(known):,.0f} W, {_watts(said['all']['mean_w'])} W on"
        f" average over the run{missing}."
    )


def _drawn(said: dict[str, Any]) -> Iterator[Row]:
    whole = said["all"]
    yield ["all used together", *_figures(whole), ""]
    for device in said["devices"]:
        label = device["label"] + (f" ({device['name']})" if device["name"] else "")
        if device["used"]:
            by = "" if device["mean_by"] == "samples" else f", mean by the {device['mean_by']}"
            yield [label, *_figures(device), f"{device['coverage']:.1%}{by}"]
        else:
            yield [f"{label}, not used", *_figures(device), f"{device['coverage']:.1%}"]


def _figures(of: dict[str, Any]) -> list[str]:
    energy = of["energy_j"]
    watts = [_watts(of[name]) for name in ("mean_w", "p50_w", "p99_w", "idle_w")]
    return [*watts, "–" if energy is None else f"{energy / 1e3:,.4g}"]


def _prediction(prediction: dict[str, Any]) -> list[Row]:
    return [
        ["measured", _watts(prediction["measured_w"]), ""],
        ["predicted before", _watts(prediction["predicted_w"]), f"{prediction['error_before']:+.1%}"],
        ["predicted after", _watts(prediction["predicted_after_w"]), f"{prediction['error_after']:+.1%}"],
    ]


def _coefficient(prediction: dict[str, Any], name: str) -> Row:
    before, after = prediction["shipped"][name], prediction["replaced"][name]
    factor = f"{after / before:.2f}" if before else "–"
    return [NAMES[name], f"{before:.4g}", f"{after:.4g}", factor]


def _watts(watts: float | None) -> str:
    return "–" if watts is None else f"{watts:,.1f}"
