"""Two people change a question at once: who saves second chooses, and nothing that either typed is lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from planner.scenarios.errors import FieldErrors
from planner.scenarios.history import History
from planner.scenarios.history_views import scenario_for
from planner.scenarios.labels import label_of
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import SavedMeanwhileError, Start, create_scenario, save_revision
from planner.scenarios.words import Change
from planner.studies.services import start_study

SALT = "planner.scenarios.meanwhile"


@dataclass(frozen=True)
class Mine:
    """What was typed and could not be saved, on its way to the choice and back: signed, for its rows of the catalogue
    are taken as they are."""

    scenario_id: int
    started: int
    """The number of the revision that it was a change of."""
    seen: int
    """The latest revision that its page tells of."""
    inputs: dict[str, Any]
    rows: dict[str, Any]

    def text(self) -> str:
        return signing.dumps(vars(self), salt=SALT, compress=True)

    @classmethod
    def read(cls, text: str, scenario_id: int) -> "Mine":
        """404 where it was not made here, or for another question."""
        try:
            found = cls(**signing.loads(text, salt=SALT))
        except signing.BadSignature as error:
            raise Http404("What was typed did not arrive as it was sent.") from error
        if found.scenario_id != scenario_id:
            raise Http404("What was typed is of another question.")
        return found


def page(request: HttpRequest, error: SavedMeanwhileError, problems: list[str] | None = None) -> HttpResponse:
    """Both changes in words, and the choice."""
    scenario = error.start.revision.scenario
    started, latest = error.start.revision, scenario.latest
    return _shown(request, Mine(scenario.pk, started.number, latest.number, error.inputs, error.rows), problems)


def _shown(request: HttpRequest, mine: Mine, problems: list[str] | None = None) -> HttpResponse:
    history = History(request.user, scenario_for(request, mine.scenario_id))
    started, latest = _numbered(history, mine.started), history.latest
    typed = Revision(scenario=history.scenario, number=0, inputs=mine.inputs, rows=mine.rows)
    own, theirs = history.changes(started, typed), history.changes(started, latest)
    context = {
        "scenario": history.scenario,
        "latest": latest,
        "started": started,
        "later": [line for line in history.revisions if line.number > started.number],
        "mine": own,
        "theirs": theirs,
        "both": _both(own, theirs),
        "text": Mine(**{**vars(mine), "seen": latest.number}).text(),
        "problems": problems or [],
    }
    return render(request, "scenarios/meanwhile.html", context, status=409)


@never_cache
@require_POST
def settle(request: HttpRequest, scenario_id: int) -> HttpResponse:
    """``go``: ``mine`` on top of theirs, ``theirs`` alone, or mine as a ``copy``, a question of its own."""
    scenario = scenario_for(request, scenario_id)
    mine, go = Mine.read(request.POST.get("mine", ""), scenario_id), request.POST.get("go")
    history = History(request.user, scenario)
    started = _numbered(history, mine.started)
    if go == "theirs":
        study = history.studies.get(history.latest.pk)
        return redirect("studies:result", study.pk) if study else redirect("scenarios:scenario", scenario_id)
    try:
        if go == "copy":
            origin = f"{started.title}, revision {started.number}, changed"
            note, name = scenario.note, "" if started.name else f"Copy of {scenario.name}"
            copy = create_scenario(request.user, mine.inputs, name, note=note, origin=origin, kept=mine.rows)
            return redirect("studies:result", start_study(request.user, copy).pk)
        if go != "mine":
            raise Http404("Found no choice, expected mine, theirs or copy.")
        saved = _on_top(request, scenario, mine, started, history)
    except SavedMeanwhileError:
        return _shown(request, mine)
    except FieldErrors as error:
        return _shown(request, mine, [f"{label_of(name)}: {said}" for name, said in error.fields.items()])
    return redirect("studies:result", start_study(request.user, saved).pk)


def _on_top(request: HttpRequest, scenario: Scenario, mine: Mine, started: Revision, history: History) -> Revision:
    """Theirs, with what I changed. Saved only on the revision whose changes the page has shown."""
    theirs = _numbered(history, mine.seen)
    inputs, rows = merged(started.inputs, mine.inputs, theirs.inputs), merged(started.rows, mine.rows, theirs.rows)
    return save_revision(request.user, scenario, inputs, kept=rows, start=Start(theirs, theirs.number))


def merged(started: Mapping[str, Any], mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Theirs, and mine where mine was changed."""
    return {**theirs, **{name: value for name, value in mine.items() if started.get(name) != value}}


def _both(mine: list[Change], theirs: list[Change]) -> list[Change]:
    """What both changed, each to something else: my value beside theirs."""
    other = {(change.name, change.label): change.after for change in theirs}
    pairs = [(change, other.get((change.name, change.label))) for change in mine]
    return [
        Change(change.name, change.label, after, change.after)
        for change, after in pairs
        if after is not None and after != change.after
    ]


def _numbered(history: History, number: int) -> Revision:
    found = [revision for revision in history.revisions if revision.number == number]
    if not found:
        raise Http404("No such revision.")
    return found[0]
