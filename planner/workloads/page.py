"""A workload's page in words, tables and charts; what is said here is said without any script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.numerals import duration, short
from planner.workloads import spec_words
from planner.workloads.cached import cache_words
from planner.workloads.charts import Chart, charts_of, week_chart
from planner.workloads.figures import NAMES
from planner.workloads.kept import kept_words
from planner.workloads.models import Workload
from simcore.traces.read import FORMATS
from simcore.traces.synthetic import SyntheticSpec
from simcore.traces.week import relative_rates

LEAST_MISSING = 0.0005
"""Of the accepted rows: where fewer are refused, nothing is said of the rate."""


MUCH_BUSIER = 1.1
BUSIEST = {"60_s": "minute", "300_s": "stretch of five minutes", "3600_s": "hour"}


@dataclass(frozen=True)
class Found:
    """Rows of one sort, repaired or refused: how many of each kind, and the first of them."""

    title: str
    kinds: Sequence[tuple[str, str]]
    counted_by: str
    listed: Sequence[dict[str, Any]]
    more: str
    """How many more there are than are listed; empty for none."""


@dataclass(frozen=True)
class WorkloadPage:
    workload: Workload
    origin: str
    lines: Sequence[str]
    found: Sequence[Found]
    charts: Sequence[Chart]
    classes: Sequence[Sequence[str]] = ()
    class_head: Sequence[str] = spec_words.CLASS_HEAD
    kept: Sequence[str] = ()
    """What of an uploaded file is."""
    doubts: Sequence[str] = ()
    """What it may not mean as it was read."""
    busiest_req_per_s: float | None = None
    """A rate to ask for where the mean is not what must be held."""

    @property
    def name(self) -> str:
        return self.workload.name


@dataclass(frozen=True)
class ListRow:
    """A workload in the list: its numbers in order of the table's columns."""

    workload: Workload
    numbers: Sequence[str]


@dataclass(frozen=True)
class DraftRow:
    """An upload that is not saved yet."""

    workload: Workload

    @property
    def requests(self) -> str:
        return _count(self.workload.requests, "request")


def listed(workload: Workload) -> ListRow:
    figures = workload.summary["statistics"]
    lengths = [f"{figures[column]['p50']:,} / {figures[column]['p99']:,}" for column in NAMES]
    return ListRow(workload, [f"{workload.requests:,}", _span(figures), short(figures["rate_req_per_s"]), *lengths])


def workload_page(workload: Workload) -> WorkloadPage:
    summary = workload.summary
    figures = summary["statistics"]
    spec = SyntheticSpec.from_json(workload.spec) if workload.spec else None
    return WorkloadPage(
        workload,
        origin(workload, spec),
        [*described(figures), *cache_words(workload), *(spec_words.lines(spec) if spec else ())],
        _findings(workload.report) if workload.report else [],
        [*charts_of(summary), *week_charts(spec)],
        spec_words.class_rows(spec) if spec else (),
        kept=kept_words(workload),
        doubts=(workload.report or {}).get("doubts", ()),
        busiest_req_per_s=spec_words.busiest_rate(spec) if spec else busiest_five_minutes(figures),
    )


def described(figures: dict[str, Any]) -> list[str]:
    """Requests in sentences: how many, how long, how bursty."""
    return [
        _traffic(figures),
        _lengths(figures),
        *_burstiness(figures["burstiness"]),
        *_busiest(figures),
        *_extras(figures),
    ]


def week_charts(spec: SyntheticSpec | None) -> list[Chart]:
    """The week that a spec asks for, if it does."""
    if spec is None or spec.week is None:
        return []
    return [week_chart(relative_rates(spec.week), spec.rate_req_per_s)]


def busiest_five_minutes(figures: dict[str, Any]) -> float | None:
    """Where they are much busier than the mean."""
    rate, busiest = figures["rate_req_per_s"], figures.get("busiest_req_per_s", {}).get("300_s")
    return busiest if rate and busiest and busiest > MUCH_BUSIER * rate else None


def origin(workload: Workload, spec: SyntheticSpec | None) -> str:
    """Where the requests come from: the parse report, or the mix, in one sentence."""
    if workload.report:
        return _parsed(workload.file_name, workload.report)
    return spec_words.origin(spec, workload.requests) if spec else ""


def _parsed(file_name: str, report: dict[str, Any]) -> str:
    label = next((table.label for table in FORMATS if table.id == report["format"]), report["format"])
    repaired, refused = report["repaired_rows"], report["refused_rows"]
    return (
        f"Read {_count(report['rows_read'], 'row')} of {file_name} ({label}): {report['accepted']:,} accepted, "
        f"of which {_none(repaired)} repaired; {_none(refused)} refused.{_missing(report)}"
    )


def _missing(report: dict[str, Any]) -> str:
    """What refused rows mean for the rate: they came, too."""
    lost = report.get("refused_requests", report["refused_rows"])  # not told apart before
    more = lost / report["accepted"]
    if more < LEAST_MISSING:
        return ""
    return (
        f" All figures are of what was accepted; were the refused rows requests that came too, the rate would be"
        f" {more:.1%} higher."
    )


def _traffic(figures: dict[str, Any]) -> str:
    rate = figures["rate_req_per_s"]
    if rate is None:
        return f"{_count(figures['requests'], 'request')}, all at one instant: they have no rate of their own."
    return f"{_count(figures['requests'], 'request')} in {_span(figures)}: {short(rate)} requests/s on average."


def _span(figures: dict[str, Any]) -> str:
    seconds = figures["duration_s"]
    return duration(seconds) if seconds >= 60 else f"{short(seconds)} s"


def _lengths(figures: dict[str, Any]) -> str:
    parts = [
        f"{name}s have {short(tokens['mean'])} tokens on average, "
        f"{tokens['p50']:,} at the median, {tokens['p99']:,} at P99"
        for name, tokens in ((name, figures[column]) for column, name in NAMES.items())
    ]
    correlation = figures["length_rank_correlation"]
    together = "" if correlation is None else f" The rank correlation of the two is {correlation:+.2f}."
    return f"{parts[0][:1].upper()}{parts[0][1:]}; {parts[1]}.{together}"


def _dispersions(figures: dict[str, Any]) -> dict[str, float | None]:
    """Variance over mean of the requests in a window, by window; of one window for workloads saved before 1 and 60 s
    were."""
    if "index_of_dispersion" not in figures:
        return {f"{figures['window_s']:g} s": figures["dispersion"]}
    return {key.replace("_", " "): value for key, value in figures["index_of_dispersion"].items()}


def _burstiness(figures: dict[str, Any]) -> list[str]:
    said = []
    known = {window: value for window, value in _dispersions(figures).items() if value is not None}
    if known:
        values = ", ".join(short(value) for value in known.values())
        said.append(f"requests in windows of {', '.join(known)} have a variance of {values} times their mean")
    if figures["gap_cv"] is not None:
        said.append(f"gaps between arrivals have a coefficient of variation of {short(figures['gap_cv'])}")
    return [f"Burstiness: {'; '.join(said)} (a Poisson process has 1)."] if said else []


def _busiest(figures: dict[str, Any]) -> list[str]:
    """Of windows in which there is more than in the mean; workloads saved before have none."""
    found = figures.get("busiest_req_per_s", {})
    said = [f"{short(found[key])} in a {name}" for key, name in BUSIEST.items() if found.get(key)]
    return [f"At the busiest, requests/s: {', '.join(said)}."] if said else []


def _extras(figures: dict[str, Any]) -> list[str]:
    said = []
    if figures["cached_prompt_tokens"]:
        share = figures["cached_prompt_tokens"] / figures["prompt_tokens"]["total"]
        said.append(f"{share:.0%} of prompt tokens are cached.")
    if figures["requests_with_max_output_tokens"]:
        said.append(f"{_count(figures['requests_with_max_output_tokens'], 'request')} with max_output_tokens.")
    return said


def _findings(report: dict[str, Any]) -> list[Found]:
    by = report.get("counted_by", "line")  # reports of before JSON was read have lines alone
    return [
        Found(title, _counts(sort["counts"]), by, sort["listed"], _more(sort["total"] - len(sort["listed"])))
        for title, sort in (("Refused", report["refused"]), ("Repaired", report["repaired"]))
        if sort["total"]
    ]


def _counts(counts: dict[str, int]) -> list[tuple[str, str]]:
    return [(kind, f"{count:,}") for kind, count in sorted(counts.items())]


def _more(number: int) -> str:
    return f"{number:,} more {'is' if number == 1 else 'are'}" if number else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _none(number: int) -> str:
    return f"{number:,}" if number else "none"
