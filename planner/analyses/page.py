"""A section of the result for each kind of analysis: its question, its button, and what was found."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from planner.accounts.owned import Guest, Visitor
from planner.analyses.asking import NOTHING, Asked, ask, subject_of
from planner.analyses.models import Analysis
from planner.analyses.shown import Shown, shown
from planner.numerals import duration
from planner.studies.leases import State
from planner.studies.models import Study
from planner.studies.results import progress
from planner.studies.supposing import read
from simcore.analyses import KINDS, Kind, Subject, kind_of
from simcore.spec import SpecError
from simcore.what_if import words as what_if_words
from simcore.what_if.changes import WhatIf

logger = logging.getLogger(__name__)

OPEN = "open"
"""In an address: the sections that are open."""
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
    supposed: Mapping[str, str] = field(default_factory=dict)
    """The moves of the page's address."""
    of: str = ""
    """What is supposed and counted in, in short; empty where nothing is."""
    limits_as_asked: bool = False
    """Other latency limits are supposed: not counted in, for they must be simulated."""
    as_asked: "Section | None" = None
    """The same of the question as it was asked, where that was found and this was not."""
    is_open: bool = False
    """Whether what was found is shown, and not its first sentence alone."""

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
        """The parameters and what is supposed, so that an address says all that is asked."""
        found = {name: _text(value) for name, value in self.given.items()} | dict(self.supposed)
        return f"?{urlencode(found)}" if found else ""

    @property
    def moves_query(self) -> str:
        """What is supposed alone, for links to designs."""
        return f"?{urlencode(self.supposed)}" if self.supposed else ""

    @property
    def told_of(self) -> "Section":
        """Itself, or the same of the question as it was asked."""
        return self.as_asked or self

    @property
    def folds(self) -> bool:
        """Whether there is something to be closed: what was found, or what can be said before."""
        return self.kind.listed and not self.is_active and self.told_of.said is not None

    @property
    def may_ask(self) -> bool:
        """Whether a form to ask it makes sense: it can be asked, or with other values."""
        return self.state != "impossible" or bool(self.given) or self.is_blank

    @property
    def opened(self) -> "Section":
        """With all that was found."""
        return replace(self, is_open=True)

    @property
    def gist(self) -> str:
        """The first sentence of what was found, which stands for it while it is closed."""
        shown_ = self.told_of.shown
        return next(iter(shown_.sentences), "") if shown_ else ""

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
            return self.asked.subject if self.asked else subject_of(self.study, self.supposed)
        except ValueError:
            return None

    @property
    def is_blank(self) -> bool:
        """Whether its form waits to be filled in."""
        return self.kind.needs_input and not self.given

    @property
    def hidden(self) -> dict[str, str]:
        """Parameters that have no field, and what is supposed."""
        shown_ = {field.name for field in self.kind.fields}
        kept = {name: _text(value) for name, value in self.given.items() if name not in shown_}
        return kept | dict(self.supposed)

    @property
    def newer_engine(self) -> bool:
        """Whether it was simulated by another engine than the answer."""
        row = self.row
        return bool(row and row.engine_version and row.engine_version != self.study.engine_version)


def section(study: Study, name: str, given: Mapping[str, Any], query: Mapping[str, Any] = NOTHING) -> Section:
    """``query``: of the page's address, with what is supposed. SpecError where there is no such kind."""
    moves, found = read(study, query)
    made = _section(study, name, given, moves.query)
    if not moves.query:
        return made
    made = replace(made, of=_counted_in(found), limits_as_asked=bool(found.simulates))
    if made.said is not None or made.is_active:
        return made
    before = _section(study, name, given, {})
    return replace(made, as_asked=before) if before.told is not None else made


def _counted_in(found: WhatIf) -> str:
    return what_if_words.supposed_in_short(replace(found, changes=replace(found.changes, slo_multiplier=None)))


def _section(study: Study, name: str, given: Mapping[str, Any], supposed: Mapping[str, str]) -> Section:
    kind = kind_of(name)
    try:
        made = Section(study, kind, given, ask(study, name, given, supposed), supposed=supposed)
        _ = made.shown  # what cannot be told is said here, not in the middle of a page
        return made
    except ValueError as error:  # a SpecError, or a workload that has changed
        return Section(study, kind, given, None, f"{error}", supposed=supposed)
    except Exception as error:  # one section's trouble is not the answer's
        logger.exception("study %s: %s cannot be told", study.pk, name)
        return Section(study, kind, given, None, f"it cannot be told ({type(error).__name__})", supposed=supposed)


def sections(study: Study, user: Visitor, query: Mapping[str, Any] = NOTHING) -> list[Section]:
    """All kinds, once the study has an answer to look into; for whoever has only a link to it those that say
    something. ``query``: of the page's address, with what is supposed and what is ``open``."""
    if study.is_active or not progress(study).tried:
        return []
    opened = str(query.get(OPEN, "")).split(",")
    every = [
        replace(section(study, name, {}, query), is_open=name in opened) for name, kind in KINDS.items() if kind.listed
    ]
    return [one for one in every if one.told_of.said is not None] if isinstance(user, Guest) else every


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
