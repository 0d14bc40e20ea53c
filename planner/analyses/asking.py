"""What a study asks of an analysis, and what is known of it: the web's side, without the engine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from planner.analyses.models import Analysis
from planner.studies.contexts import context_of, statistics_of
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.packed import DamagedError, unpack_json
from planner.studies.results import study_result
from planner.studies.supposing import read
from simcore.analyses import Kind, Subject, kind_of, parameters_of
from simcore.analyses.key import analysis_key, code_version
from simcore.analyses.kind import told_of
from simcore.same import Same

Json = dict[str, Any]
NOTHING: Mapping[str, Any] = MappingProxyType({})
PREPARED_KEPT = 256
"""Of all kinds of the studies that were looked at last."""


def subject_of(study: Study, supposed: Mapping[str, Any] = NOTHING) -> Subject:
    """The study's answer, or what becomes of it under what an address supposes, as far as that needs no simulation.
    ValueError where the workload is not what it was."""
    if not supposed:
        return Subject(study_result(study), statistics_of(study), lambda: context_of(study))
    _, found = read(study, supposed)
    # What is known of a design that was not tried was told at the rate that was asked for.
    candidates = (lambda: context_of(study)) if found.rate_is_simulated else None
    return Subject(found.result, statistics_of(study), candidates)


@dataclass(frozen=True)
class Prepared:
    """What follows from a study's answer, a kind and parameters alone: a page that is looked at again works out none of
    it anew."""

    kind: Kind[Any, Any]
    subject: Subject
    parameters: Any
    task: Any
    trace_hash: str

    @cached_property
    def key(self) -> str:
        return analysis_key(self.kind.name, self.task, self.trace_hash, code_version())

    @cached_property
    def predicted_s(self) -> float:
        """CPU seconds; 0 where nothing is simulated."""
        return self.kind.cpu_s(self.task, self.subject.statistics)

    @cached_property
    def told_at_once(self) -> Json:
        """Of a kind that simulates nothing."""
        return self.told({})

    @cached_property
    def before(self) -> Json | None:
        """What is said before it is asked for."""
        before = self.kind.before
        return before(self.subject, self.parameters, self.task) if before else None

    def told(self, found: Json) -> Json:
        return told_of(self.kind, self.subject, self.parameters, self.task, found)


@dataclass(frozen=True)
class Asked:
    """A kind, with parameters, asked of a study."""

    study: Study
    given: Mapping[str, Any]
    """The parameters that are not left at their defaults, as JSON."""
    prepared: Prepared

    @property
    def kind(self) -> Kind[Any, Any]:
        return self.prepared.kind

    @property
    def subject(self) -> Subject:
        return self.prepared.subject

    @property
    def task(self) -> Any:
        return self.prepared.task

    @property
    def key(self) -> str:
        return self.prepared.key

    @property
    def predicted_s(self) -> float:
        """CPU seconds; 0 where nothing is simulated."""
        return self.prepared.predicted_s

    @property
    def before(self) -> Json | None:
        """What is said before it is asked for."""
        return self.prepared.before

    @cached_property
    def row(self) -> Analysis | None:
        return Analysis.objects.filter(key=self.key).first()

    @cached_property
    def told(self) -> Json | None:
        """The whole of it for this study, at its prices; None while it is not done, or no longer whole."""
        if not self.predicted_s:
            return self.prepared.told_at_once
        if self.row is None or self.row.state != State.DONE or self.row.found is None:
            return None
        try:
            return self.prepared.told(unpack_json(self.row.found, self.row.found_checksum))
        except DamagedError:
            return None


def ask(study: Study, name: str, given: Mapping[str, Any], supposed: Mapping[str, Any] = NOTHING) -> Asked:
    """SpecError: an unknown kind, a bad parameter, or a study that the kind does not apply to, with the reason.
    ``supposed``: the moves of an address."""
    kind_of(name)
    subject = subject_of(study, supposed)
    parts = Same(subject, subject.result, subject.statistics)
    prepared = _prepared(parts, study.trace_hash, name, json.dumps(given, sort_keys=True))
    return Asked(study, given, prepared)


@lru_cache(maxsize=PREPARED_KEPT)
def _prepared(subject: Same[Subject], trace_hash: str, name: str, given: str) -> Prepared:
    """By the very objects that a study's result and statistics are: those of another step are others."""
    kind = kind_of(name)
    parameters = parameters_of(kind, json.loads(given))
    task = kind.task(subject.value, parameters)
    return Prepared(kind, subject.value, parameters, task, trace_hash)


def given_by(query: Mapping[str, Any], kind: Kind[Any, Any]) -> Json:
    """Parameters from a form or an address, as JSON; what is no number stays text, for the check to name. Empty ones,
    and what is no parameter of the kind, are left out."""
    hints = get_type_hints(kind.parameters)
    texts = {field.name: str(query.get(field.name, "")).strip() for field in fields(kind.parameters)}
    return {name: _value(hints[name], text) for name, text in texts.items() if text}


def _value(hint: Any, text: str) -> Any:
    if get_origin(hint) is tuple:
        return [_value(get_args(hint)[0], part.strip()) for part in text.split(",") if part.strip()]
    if get_origin(hint) is Literal:
        return next((choice for choice in get_args(hint) if str(choice) == text), text)
    options = {option for option in (hint, *get_args(hint)) if option in (int, float)}
    return _number(text) if options else text


def _number(text: str) -> Any:
    try:
        value = float(text)
    except ValueError:
        return text
    if not isfinite(value):
        return text  # no JSON could tell it back
    return int(value) if value.is_integer() else value
