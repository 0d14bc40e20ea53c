"""One operation of REST v1: declared beside its handler, checked before it, and in the document (see document.py).

    class Scenarios(RestView):
        @operation("Questions", query=LISTING.query, answers={200: page(SCENARIO)})
        def get(self, request: Request) -> Response: ...

        @operation("Ask a question", body=NEW, answers={201: SCENARIO}, errors=(400,))
        def post(self, request: Request) -> Response: ...

What the address says and the body's form are checked before the handler runs, by the same declaration: an unknown name
is a 400 that says which is nearest. The handler finds them read in ``given(request)`` and ``body(request)``. A POST may
carry an Idempotency-Key (idempotency.py), a write If-Match (preconditions.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

from django.http import Http404
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from planner.accounts.teams import writing_team
from planner.api import idempotency, preconditions, queries
from planner.api.queries import Given, Query
from planner.api.shapes import Shape, is_storable, problems, unknown

Handler = Callable[..., Response]
JSON = "application/json"
WHOLE = "non_field_errors"
"""Where an error is of no single field."""


@dataclass(frozen=True)
class File:
    """An answer that is a file."""

    content_types: tuple[str, ...]


@dataclass(frozen=True)
class Operation:
    summary: str
    answers: Mapping[int, Shape | File | None]
    """Status → what its content is like; None: no content."""
    query: tuple[Query, ...] = ()
    body: Shape | None = None
    form: Shape | None = None
    """The same as ``multipart/form-data``, where that is taken."""
    errors: tuple[int, ...] = ()
    """Statuses of problems, beside those that any operation may answer."""
    match: str = ""
    """``required`` or ``taken``: whether If-Match must come, or is read where it does."""
    headers: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    shown_once: tuple[str, ...] = ()
    """Keys of the answer that no repetition of a POST tells again."""
    deprecated: bool = False


class RestView(APIView):
    """A view whose operations are declared."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not all(is_storable(value) for value in kwargs.values() if isinstance(value, str)):
            raise Http404("No such address.")


def operation(
    summary: str,
    *,
    answers: Mapping[int, Shape | File | None],
    at_once: bool = True,
    **more: Any,
) -> Callable[[Handler], Handler]:
    """``at_once``: with an Idempotency-Key a POST and the memory of it are one transaction; false for what takes long
    and writes at its end."""
    said = Operation(summary, answers, **more)

    def declared(handler: Handler) -> Handler:
        @wraps(handler)
        def checked(view: RestView, request: Request, *args: Any, **kwargs: Any) -> Response:
            request.given = queries.given(request._request.GET, said.query)
            if said.body is not None:
                writing_team(request.user)  # 403 before 400: what is wrong with it is of no use to who may not write
                request.checked = _sent(request, said.body, said.form)
            if said.match:
                preconditions.check(view, request, kwargs, required=said.match == "required")
            if request.method == "POST":
                return idempotency.once(
                    request,
                    lambda: handler(view, request, *args, **kwargs),
                    at_once=at_once,
                    shown_once=said.shown_once,
                )
            return handler(view, request, *args, **kwargs)

        checked.operation = said  # type: ignore[attr-defined]
        return checked

    return declared


def given(request: Request) -> Given:
    """What the address says, read."""
    found: Given = getattr(request, "given", {})
    return found


def body(request: Request) -> dict[str, Any]:
    """The JSON object that was sent, checked against its declaration."""
    found: dict[str, Any] = getattr(request, "checked", {})
    return found


def _sent(request: Request, shape: Shape, form: Shape | None) -> dict[str, Any]:
    """A form's values are text, for the handler to read; its names are checked as a body's."""
    data = request.data  # 415 where it is of a kind that is not read here
    if form is None or not request.content_type.startswith("multipart/form-data"):
        return _checked(data, shape)
    known = form["properties"]
    if wrong := [name for name in data if name not in known]:
        raise ValidationError({name: [unknown(name, known)] for name in wrong})
    if wrong := [name for name in data if isinstance(data[name], str) and not is_storable(data[name])]:
        raise ValidationError({name: ["Found a character that no text holds, expected text."] for name in wrong})
    return {}


def _checked(data: Any, shape: Shape) -> dict[str, Any]:
    wrong: dict[str, list[str]] = {}
    for name, words in problems(shape, data):
        wrong.setdefault(name or WHOLE, []).append(words)
    if wrong:
        raise ValidationError(wrong)
    return dict(data)
