"""What an address compares: ``?study=1&study=2&design=1:0b7f…``, answers of studies and then designs of studies."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import Http404, QueryDict

from planner.accounts.owned import Visitor
from planner.studies import results
from planner.studies.models import Study
from planner.studies.results import Progress
from simcore.answer.result import StudyResult
from simcore.comparing.inputs import Side
from simcore.comparing.verdict import Choice
from simcore.rows import DesignRow

MOST = 4
NAMES = "ABCD"


@dataclass(frozen=True)
class Key:
    """One of those compared, as an address names it."""

    study_id: int
    design_id: str = ""
    """Empty: the study's answer."""

    def __str__(self) -> str:
        return f"{self.study_id}:{self.design_id}" if self.design_id else str(self.study_id)


@dataclass(frozen=True)
class Column:
    """A study's answer, or one of its designs, with the name and place that it has on the page."""

    key: Key
    index: int
    study: Study
    result: StudyResult
    progress: Progress | None
    """How far the study is; None once it is complete."""

    @property
    def name(self) -> str:
        return NAMES[self.index]

    @property
    def is_answer(self) -> bool:
        return not self.key.design_id

    @property
    def row(self) -> DesignRow | None:
        """None where the study has no answer."""
        return self.result.winner if self.is_answer else self.result.row(self.key.design_id)

    @property
    def side(self) -> Side:
        return Side(self.result, self.study.trace_hash, self.study.engine_version)

    @property
    def choice(self) -> Choice:
        return Choice(self.name, self.side, self.row, self.is_answer)

    @property
    def title(self) -> str:
        return f"{self.study.revision.title}, revision {self.study.revision.number}"

    @property
    def state(self) -> str:
        """Of a study that is not complete; empty otherwise."""
        if self.progress is None:
            return ""
        ended = f"{self.progress.ended} after" if self.progress.ended else "so far"
        return f"{ended} {self.progress.tried} of {self.progress.total} designs"


def keys_of(query: QueryDict) -> list[Key]:
    """Studies, then designs, each once; Http404 where one cannot be."""
    studies = [Key(_number(text)) for text in query.getlist("study")]
    designs = [_design(text) for text in query.getlist("design")]
    return list(dict.fromkeys([*studies, *designs]))


def one_key(text: str) -> Key | None:
    """``12`` or ``12:0b7f…``; None where it is neither."""
    try:
        return _design(text) if ":" in text else Key(_number(text))
    except Http404:
        return None


def columns_of(user: Visitor, keys: Iterable[Key]) -> list[Column]:
    """Http404 where one is not there, or not for this visitor to see."""
    keys = list(keys)
    rows = Study.objects.visible_to(user).filter(pk__in={key.study_id for key in keys})
    studies = {study.pk: study for study in rows.select_related("revision__scenario", "workload", "created_by")}
    return [_column(key, index, studies.get(key.study_id)) for index, key in enumerate(keys)]


def address(keys: Iterable[Key], **more: str) -> str:
    """``?study=1&design=1:0b7f…`` and what else is asked, where it is."""
    keys = list(keys)
    named = [("design" if key.design_id else "study", str(key)) for key in keys]
    order = sorted(named, key=lambda pair: pair[0] != "study")
    return f"?{urlencode([*order, *((name, value) for name, value in more.items() if value)], safe=':')}"


def _column(key: Key, index: int, study: Study | None) -> Column:
    if study is None:
        raise Http404("No such study.")
    column = Column(key, index, study, results.study_result(study), results.how_far(study))
    if key.design_id and column.row is None:
        raise Http404("No such design in this study, or it has not been tried yet.")
    return column


def _number(text: str) -> int:
    if not (text.isdecimal() and len(text) < 16):
        raise Http404("study: expected the number of a study.")
    return int(text)


def _design(text: str) -> Key:
    study, colon, design = text.partition(":")
    if not (colon and design):
        raise Http404("design: expected STUDY:DESIGN.")
    return Key(_number(study), design)
