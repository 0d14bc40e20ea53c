"""What a question page starts from, and what was typed on it, kept while its user uploads a trace."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, QueryDict

from planner.accounts.owned import Visitor
from planner.scenarios.by_machine import ByMachineField
from planner.scenarios.choices import Choices
from planner.scenarios.fields import PickSeveralField
from planner.scenarios.forms import QuestionForm

SESSION_KEY = "question_draft"
FIRST_MACHINES = 2


def keep_draft(request: HttpRequest) -> None:
    """Keeps what was typed, right or wrong, in the session."""
    request.session[SESSION_KEY] = request.POST.urlencode()


def drop_draft(request: HttpRequest) -> None:
    """The question is asked: what was typed is in its revision now."""
    request.session.pop(SESSION_KEY, None)


def starting_form(user: Visitor, request: HttpRequest, inputs: Mapping[str, Any]) -> QuestionForm:
    """The form as it was left for an upload (``?workload``), else of ``inputs``; then what the address names.

    Another workload comes with its own arrivals, unless others were chosen for it: a burst is not lost unasked.
    """
    form = QuestionForm(user)
    kept = _draft(form, request) if "workload" in request.GET else {}
    start, named = {**first_inputs(user), **(kept or inputs)}, _typed(form, request.GET)
    if _another_workload(inputs, named) and start.get("arrivals") == inputs.get("arrivals"):
        start["arrivals"] = form.fields["arrivals"].initial
    return QuestionForm(user, offered=form.offered, initial={**start, **named})


def _another_workload(inputs: Mapping[str, Any], named: Mapping[str, Any]) -> bool:
    return "workload" in named and str(named["workload"]) != str(inputs.get("workload"))


def first_inputs(user: Visitor) -> dict[str, Any]:
    """Something to choose from the start, where there is no question yet."""
    offered = Choices.of(user)
    return {
        "model": _first(offered.models),
        "workload": _first(offered.workloads),
        "machines": [key for key, _ in offered.machines[:FIRST_MACHINES]],
        "price_book": next(iter(offered.price_books), ""),
        "rate_req_per_s": 10,
    }


def _draft(form: QuestionForm, request: HttpRequest) -> dict[str, Any]:
    typed = _typed(form, QueryDict(request.session.get(SESSION_KEY, "")))
    none_ticked: dict[str, Any] = {name: [] for name in form.fields if _several(form, name)}
    return {**none_ticked, **typed} if typed else {}


def _typed(form: QuestionForm, data: QueryDict) -> dict[str, Any]:
    return {name: _given(form, name, data) for name in form.fields if _is_given(form, name, data)}


def _given(form: QuestionForm, name: str, data: QueryDict) -> Any:
    if isinstance(form.fields[name], ByMachineField):
        return form.fields[name].widget.value_from_datadict(data, {}, name)
    return data.getlist(name) if _several(form, name) else data[name]


def _is_given(form: QuestionForm, name: str, data: QueryDict) -> bool:
    if isinstance(form.fields[name], ByMachineField):
        return not form.fields[name].widget.value_omitted_from_data(data, {}, name)
    return name in data


def _several(form: QuestionForm, name: str) -> bool:
    return isinstance(form.fields[name], PickSeveralField)


def _first(pairs: list[tuple[str, str]]) -> str:
    return pairs[0][0] if pairs else ""
