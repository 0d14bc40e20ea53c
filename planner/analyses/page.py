"""A section of the result for each kind of analysis: its question, its button, and what was found."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from planner.accounts.owned import Guest, Visitor
from planner.analyses.asking import Asked, ask, subject_of
from planner.analyses.models import Analysis
from planner.analyses.shown import Shown, shown
from planner.numerals import duration
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.results import progress
from simcore.analyses import KINDS, Kind, Subject, kind_of
from simcore.spec import SpecError

logger = logging.getLogger(__name__)

STARTS_S = 1.0
"""What an analysis takes beside what it simulates: a worker is told, and the page asks."""


@dataclass(frozen=True)
class Input:
    """A parameter's field."""

    name: str
    label: str
    unit: str
    help: str
    value: str
    is_list: bool
    choices: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Section:
    """One kind of one study."""

    study: Study
    kind: Kind[Any, Any]
    given: Mapping[str, Any]
    asked: Asked | None
    problem: str = ""
    """Why it cannot be asked."""

    @property
    def row(self) -> Analysis | None:
        return self.asked.row if self.asked else None

    @property
    def state(self) -> str:
        """``impossible``, ``unasked``, ``queued``, ``running``, ``done``, ``failed`` or ``cancelled``."""
        if self.asked is None:
            return "impossible"
        if self.told is not None:
            return State.DONE
        if self.row is None or self.row.state == State.DONE:  # what was found is damaged: asking finds it again
            return "unasked"
        return str(self.row.state)

    @property
    def is_active(self) -> bool:
        return self.state in (State.QUEUED, State.RUNNING)

    @cached_property
    def told(self) -> dict[str, Any] | None:
        return self.asked.told if self.asked else None

    @cached_property
    def said(self) -> dict[str, Any] | None:
        """What was found, or what can be said before it is asked for."""
        return self.told if self.told is not None or self.asked is None else self.asked.before

    @cached_property
    def shown(self) -> Shown | None:
        return shown(self.kind.name, self.said) if self.said is not None else None

    @property
    def templates(self) -> list[str]:
        """The kind's own, else the one for words, charts and tables."""
        return [f"analyses/{self.kind.name}.html", "analyses/_shown.html"]

    @property
    def takes(self) -> str:
        """``about 20 s``."""
        return f"about {duration((self.asked.predicted_s if self.asked else 0.0) + STARTS_S)}"

    @property
    def address(self) -> str:
        return reverse("analyses:analysis", args=[self.study.pk, self.kind.name])

    @property
    def query(self) -> str:
        """The parameters, so that an address says all that is asked."""
        return "?" + urlencode({name: _text(value) for name, value in self.given.items()}) if self.given else ""

    @property
    def inputs(self) -> list[Input]:
        defaults = self.kind.parameters()
        values = {field.name: self.given.get(field.name, getattr(defaults, field.name)) for field in self.kind.fields}
        subject = self._subject
        return [
            Input(
                f.name,
                f.label,
                f.unit,
                f.help,
                _text(values[f.name]),
                isinstance(getattr(defaults, f.name), tuple),
                f.choices(subject) if f.choices and subject else (),
            )
            for f in self.kind.fields
        ]

    @cached_property
    def _subject(self) -> Subject | None:
        """None where the workload is not what it was."""
        try:
            return self.asked.subject if self.asked else subject_of(self.study)
        except ValueError:
            return None

    @property
    def is_blank(self) -> bool:
        """Whether its form waits to be filled in."""
        return self.kind.needs_input and not self.given

    @property
    def hidden(self) -> dict[str, str]:
        """Parameters that have no field."""
        shown_ = {field.name for field in self.kind.fields}
        return {name: _text(value) for name, value in self.given.items() if name not in shown_}

    @property
    def newer_engine(self) -> bool:
        """Whether it was simulated by another engine than the answer."""
        row = self.row
        return bool(row and row.engine_version and row.engine_version != self.study.engine_version)


def section(study: Study, name: str, given: Mapping[str, Any]) -> Section:
    """SpecError where there is no such kind."""
    kind = kind_of(name)
    try:
        made = Section(study, kind, given, ask(study, name, given))
        _ = made.shown  # what cannot be told is said here, not in the middle of a page
        return made
    except ValueError as error:  # a SpecError, or a workload that has changed
        return Section(study, kind, given, None, f"{error}")
    except Exception as error:  # one section's trouble is not the answer's
        logger.exception("study %s: %s cannot be told", study.pk, name)
        return Section(study, kind, given, None, f"it cannot be told ({type(error).__name__})")


def sections(study: Study, user: Visitor) -> list[Section]:
    """All kinds, once the study has an answer to look into; for whoever has only a link to it those that say
    something."""
    if study.is_active or not progress(study).tried:
        return []
    every = [section(study, name, {}) for name, kind in KINDS.items() if kind.listed]
    return [one for one in every if one.said is not None] if isinstance(user, Guest) else every


def known(name: str) -> bool:
    """Whether there is such a kind."""
    try:
        kind_of(name)
    except SpecError:
        return False
    return True


def _text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
