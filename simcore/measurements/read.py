"""Reading benchmark files of any known tool, found by content; what cannot be used is flagged, and all is counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from simcore.measurements import (
    aiperf_requests,
    guidellm_csv,
    guidellm_json,
    inferencex,
    llmperf,
    nvidia_csv,
    nvidia_json,
    step_csv,
    vllm_bench,
)
from simcore.measurements.checks import checked
from simcore.measurements.content import Content, load
from simcore.measurements.in_flight import with_load
from simcore.measurements.lenient_json import values
from simcore.measurements.points import Flag, Flags, Measurements, ServingPoint, Source, StepPoint
from simcore.measurements.record import Record, shown
from simcore.measurements.tables import rows
from simcore.spec import SpecError

EXPECTED = (
    "expected a result of vllm bench serve, guidellm, genai-perf, AIPerf, InferenceX or llmperf, or a CSV of step times"
)
PRINTED = ("============ Serving Benchmark Result", "Serving Benchmark Result")
Point = ServingPoint | StepPoint


@dataclass(frozen=True)
class Given:
    """What the user says of all files, taken where a file is silent."""

    prompt_tokens: float | None = None
    output_tokens: float | None = None
    concurrency: float | None = None
    rate_req_per_s: float | None = None


def read_measurements(paths: Sequence[str], given: Given | None = None) -> Measurements:
    """All points of all files, checked. SpecError, one line, where a file is no benchmark's."""
    found = Measurements()
    for path in paths:
        read_content(load(path), given or Given(), found)
    return found


def read_content(content: Content, given: Given, found: Measurements) -> None:
    """Add one file's points to ``found``; SpecError as ``read_measurements``."""
    if any(source.sha256 == content.sha256 for source in found.sources):
        found.flags.add(Flag(content.name, "whole file", "", "", "the same file was given before", "row left out"))
        return
    points, format_name, count = _points(content, found.flags)
    for point in points:
        if isinstance(point, StepPoint):
            found.steps.append(point)
            continue
        good = checked(_with(point, given), found.flags)
        if good is not None:
            _add(with_load(good), found)
    found.sources.append(Source(content.name, content.sha256, format_name, count))


def _add(point: ServingPoint, found: Measurements) -> None:
    """Once, however often it was appended or copied: counted twice it would weigh twice, and hold out itself."""
    alike = replace(point, file="", where="")
    same = next((one for one in found.serving if replace(one, file="", where="") == alike), None)
    if same is None:
        found.serving.append(point)
        return
    first = same.where if same.file == point.file else f"{same.file}, {same.where}"
    found.flags.add(Flag(point.file, point.where, "", "", f"the same figures as {first}", "row left out"))


def _points(content: Content, flags: Flags) -> tuple[list[Point], str, int]:
    """The points, the format's name, how many rows there were."""
    start = content.text.lstrip()
    if start.startswith(("{", "[")):
        return _json_points(content, flags)
    if any(words in start[:2000] for words in PRINTED):
        raise SpecError(f"{content.name}: found printed output, expected the file that --save-result writes")
    if start.startswith(("metadata:", "benchmarks:", "args:", "- ", "---")):
        raise SpecError(f"{content.name}: found YAML, expected the same report as JSON or CSV (guidellm writes both)")
    return _csv_points(content, flags)


def _csv_points(content: Content, flags: Flags) -> tuple[list[Point], str, int]:
    table, delimiter = rows(content.name, content.text, flags)
    comma = delimiter == ";"
    if table and nvidia_csv.is_ours(table[0][1]):
        point = nvidia_csv.read(content.name, table, comma, flags)
        return [point], point.format, 1
    if table and guidellm_csv.is_ours(table):
        every = guidellm_csv.read(content.name, table, comma, flags)
        return [*every], guidellm_csv.FORMAT, len(every)
    if table and step_csv.is_ours(table[0][1]):
        return [*step_csv.read(content.name, table, flags)], step_csv.FORMAT, len(table) - 1
    first = shown(delimiter.join(table[0][1])) if table else "no table"
    raise SpecError(f"{content.name}: line 1: found {first}, {EXPECTED}")


def _json_points(content: Content, flags: Flags) -> tuple[list[Point], str, int]:
    records = [
        record
        for where, whole in values(content.name, content.text, flags)
        for record in _objects(content.name, where, whole, flags)
    ]
    if not records:
        raise SpecError(f"{content.name}: found no object, {EXPECTED}")
    if aiperf_requests.is_ours(records[0].values):
        requests = [record for record in records if aiperf_requests.is_ours(record.values)]
        _flag_others(records, requests)
        point = aiperf_requests.read(requests)
        return ([point] if point else []), aiperf_requests.FORMAT, len(requests)
    return _result_points(content, records)


def _result_points(content: Content, records: list[Record]) -> tuple[list[Point], str, int]:
    points: list[Point] = []
    names: dict[str, None] = {}
    count, known = 0, []
    for record in records:
        read = _read_record(record)
        if read is None:
            continue
        known.append(record)
        format_name, every = read
        names[format_name] = None
        count += len(every)
        points += [point for point in every if point is not None]
    if not known:
        keys = shown(", ".join(records[0].values))
        raise SpecError(f"{content.name}: found JSON with the keys {keys or '(none)'}, {EXPECTED}")
    _flag_others(records, known)
    return points, " and ".join(names), count


def _read_record(record: Record) -> tuple[str, list[Point | None]] | None:
    """The format's name and the points of one object; None where it is of no known tool."""
    value = record.values
    if guidellm_json.is_ours(value):
        return guidellm_json.FORMAT, [guidellm_json.read(one, record) for one in _benchmarks(record)]
    if vllm_bench.is_ours(value):
        return vllm_bench.FORMAT, [vllm_bench.read(record)]
    if nvidia_json.is_ours(value):
        return nvidia_json.format_name(value), [nvidia_json.read(record)]
    if llmperf.is_ours(value):
        return llmperf.FORMAT, [llmperf.read(record)]
    if inferencex.is_ours(value):
        return inferencex.FORMAT, [inferencex.read(record)]
    return None


def _benchmarks(report: Record) -> list[Record]:
    found = []
    for i, one in enumerate(report.values["benchmarks"]):
        place = replace(report, where=f"benchmarks[{i}]", values=one if isinstance(one, dict) else {})
        if isinstance(one, dict):
            found.append(place)
        else:
            place.flag("", one, "expected an object", "row left out")
    return found


def _objects(name: str, where: str, whole: Any, flags: Flags) -> list[Record]:
    """The value, or a list's values, those that are objects."""
    every = [(f"{where} [{i}]", one) for i, one in enumerate(whole)] if isinstance(whole, list) else [(where, whole)]
    for place, one in every:
        if not isinstance(one, dict):
            flags.add(Flag(name, place, "", shown(one), "expected an object", "row left out"))
    return [Record(name, place, one, flags) for place, one in every if isinstance(one, dict)]


def _flag_others(records: list[Record], known: list[Record]) -> None:
    kept = {id(record) for record in known}
    for record in records:
        if id(record) not in kept:
            record.flag("", ", ".join(record.values), "no result of a known benchmark", "row left out")


def _with(point: ServingPoint, given: Given) -> ServingPoint:
    """What the user says, where the file says nothing."""
    point = replace(
        point,
        prompt_tokens=point.prompt_tokens or given.prompt_tokens,
        output_tokens=point.output_tokens or given.output_tokens,
    )
    if point.load is None and given.rate_req_per_s:
        return replace(point, load="rate", rate_req_per_s=given.rate_req_per_s)
    if point.load is None and given.concurrency:
        return replace(point, load="concurrency", concurrency=given.concurrency)
    return point
