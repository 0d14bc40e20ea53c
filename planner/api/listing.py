"""Every list of REST v1: filtered, ordered, and paged by cursor, so that a page goes on where the last one ended
whatever is written meanwhile.

    LISTING = Listing(orders={"created_at": "created_at", "name": "name"}, default="-created_at",
                      filters=(Filter(choice_of("state", STATES), "state"),), updated="updated_at")

    rows = LISTING.page(request, Study.objects.visible_to(request.user))
    return rows.answer([_listed(study) for study in rows])

``limit`` and ``offset``, which v1 began with, go on working: an address with ``offset`` pages by it.
"""

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

from planner.api.operation import given
from planner.api.queries import Query, choice_of, time_of, whole_of, words_of

USUAL, MOST = 100, 1000
PAGING = (
    whole_of("limit", f"Rows of a page; more than {MOST} is taken for {MOST}.", least=1),
    words_of("cursor", "Where to go on: as `next` and `previous` of a page have it."),
    whole_of("offset", "Pages by place in place of `cursor`: rows move from page to page where some are added."),
)
Json = dict[str, Any]


@dataclass(frozen=True)
class Filter:
    """A parameter that leaves rows out. ``by``: the look-up of its value, or a function of rows and value."""

    query: Query
    by: str | Callable[[QuerySet[Any], Any], QuerySet[Any]]

    def apply(self, rows: QuerySet[Any], value: Any) -> QuerySet[Any]:
        return rows.filter(**{self.by: value}) if isinstance(self.by, str) else self.by(rows, value)


@dataclass(frozen=True)
class Page:
    """A page's rows, and the addresses of those beside it."""

    rows: Sequence[Any]
    count: int
    next: str | None = None
    previous: str | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def answer(self, results: Iterable[Any], **more: Any) -> Response:
        return Response({**more, **self.links, "results": list(results)})

    @property
    def links(self) -> Json:
        return {"count": self.count, "next": self.next, "previous": self.previous}


@dataclass(frozen=True)
class Listing:
    """A list of the database's rows. ``orders``: name in the address → a field that is never null."""

    orders: Mapping[str, str]
    default: str
    filters: tuple[Filter, ...] = ()
    updated: str = ""
    """The field of ``updated_since``; empty: it has none."""

    @property
    def query(self) -> tuple[Query, ...]:
        words = "Changed then or later, the longest ago first unless `ordering` says otherwise."
        since = (time_of("updated_since", words),) if self.updated else ()
        return (*(one.query for one in self.filters), *since, ordering(self.orders), *PAGING)

    def page(self, request: Request, rows: QuerySet[Any]) -> Page:
        asked = given(request)
        for one in self.filters:
            if one.query.name in asked:
                rows = one.apply(rows, asked[one.query.name])
        order = self.default
        if "updated_since" in asked:
            rows, order = rows.filter(**{f"{self.updated}__gte": asked["updated_since"]}), self._oldest_change_first()
        order = asked.get("ordering", order)
        count, limit = rows.count(), min(asked.get("limit", USUAL), MOST)
        if "offset" in asked:
            return _by_place(request, _ordered(rows, self._field(order), order), count, limit, asked["offset"])
        return self._from(request, rows, order, count, limit)

    def _oldest_change_first(self) -> str:
        return next(name for name, column in self.orders.items() if column == self.updated)

    def _field(self, order: str) -> str:
        return self.orders[order.removeprefix("-")]

    def _from(self, request: Request, rows: QuerySet[Any], order: str, count: int, limit: int) -> Page:
        """By the values of the row that the page before ended with, and by its number where others have the same."""
        field, falls = self._field(order), order.startswith("-")
        found = _cursor(request, order)
        back = found is not None and found[0] == "back"
        if found is not None:
            try:
                rows = rows.filter(_beyond(field, falls != back, found[1], found[2]))
                some = list(_ordered(rows, field, order, back)[: limit + 1])
            except (ValueError, TypeError, OverflowError) as error:
                raise _no_cursor() from error
        else:
            some = list(_ordered(rows, field, order)[: limit + 1])
        more, some = len(some) > limit, some[:limit]
        if back:
            some.reverse()
        before = (more if back else found is not None) and bool(some)
        after = (True if back else more) and bool(some)

        def link(way: str, row: Any) -> str:
            return linked(request, cursor=_packed([order, way, _plain(getattr(row, field)), row.pk]))

        return Page(some, count, link("on", some[-1]) if after else None, link("back", some[0]) if before else None)


@dataclass(frozen=True)
class Table:
    """A list that is worked out, not read: all rows at once, unless ``limit`` asks for pages. ``name``: a text by which
    a row is known again."""

    orders: tuple[str, ...] = ()
    """Keys of a row by which it may be ordered; rows without a value come last."""
    filters: tuple[Query, ...] = ()
    default: str = ""

    @property
    def query(self) -> tuple[Query, ...]:
        return (*self.filters, *((ordering(self.orders),) if self.orders else ()), *PAGING)

    def page(self, request: Request, rows: Sequence[Any], name: Callable[[Any], str], **pinned: str) -> Page:
        """``pinned``: what the next page's address says too, so that it is of the same rows."""
        asked = given(request)
        order = asked.get("ordering", self.default)
        if order:
            rows = sorted_by(rows, order)
        if not {"limit", "cursor", "offset"} & set(asked):
            return Page(rows, len(rows))
        limit = min(asked.get("limit", USUAL), MOST)
        if "offset" in asked:
            return _by_place(request, rows, len(rows), limit, asked["offset"])
        start = self._start(request, rows, name, order)
        some = rows[start : start + limit]

        def link(place: int) -> str:
            return linked(request, cursor=_packed([order, "on", name(rows[place - 1]) if place else ""]), **pinned)

        after = link(start + limit) if start + limit < len(rows) else None
        return Page(some, len(rows), after, link(max(start - limit, 0)) if start else None)

    def _start(self, request: Request, rows: Sequence[Any], name: Callable[[Any], str], order: str) -> int:
        found = _cursor(request, order, parts=3)
        if found is None or found[1] == "":
            return 0
        for place, row in enumerate(rows):
            if name(row) == found[1]:
                return place + 1
        raise ValidationError({"cursor": ["The row that it goes on from is there no more: begin again without it."]})


def ordering(names: Iterable[str]) -> Query:
    return choice_of("ordering", [f"{sign}{name}" for name in names for sign in ("", "-")], "`-`: the most first.")


def sorted_by(rows: Sequence[Any], order: str) -> list[Any]:
    """By a key or attribute; rows without one come last either way."""
    key, falls = order.removeprefix("-"), order.startswith("-")

    def value(row: Any) -> Any:
        return row[key] if isinstance(row, Mapping) else getattr(row, key)

    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=falls)
    return [*known, *(row for row in rows if value(row) is None)]


def linked(request: Request, **said: str) -> str:
    """The request's own address, saying this too."""
    url = remove_query_param(request.build_absolute_uri(), "offset")
    for name, value in said.items():
        url = replace_query_param(url, name, value)
    return str(url)


def _by_place(request: Request, rows: Any, count: int, limit: int, offset: int) -> Page:
    url = request.build_absolute_uri()

    def at(place: int) -> str:
        return str(replace_query_param(url, "offset", place) if place else remove_query_param(url, "offset"))

    after = replace_query_param(url, "offset", offset + limit) if offset + limit < count else None
    before = at(max(offset - limit, 0)) if offset else None
    return Page(list(rows[offset : offset + limit]) if offset < count else [], count, after, before)


def _ordered(rows: QuerySet[Any], field: str, order: str, back: bool = False) -> QuerySet[Any]:
    sign = "-" if order.startswith("-") != back else ""
    return rows.order_by(f"{sign}pk") if field == "pk" else rows.order_by(f"{sign}{field}", f"{sign}pk")


def _beyond(field: str, falls: bool, value: Any, pk: Any) -> Q:
    way = "lt" if falls else "gt"
    return Q(**{f"{field}__{way}": value}) | Q(**{field: value, f"pk__{way}": pk})


def _packed(parts: list[Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode().rstrip("=")


def _cursor(request: Request, order: str, parts: int = 4) -> list[Any] | None:
    """Way, value and number of the row to go on from; 400 for one of another list or order."""
    text = given(request).get("cursor")
    if text is None:
        return None
    try:
        found = json.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4)))
        known, way, value, *pk = found
    except (ValueError, TypeError, RecursionError):
        raise _no_cursor() from None
    plain = isinstance(value, str | int) and not isinstance(value, bool) and len(found) == parts
    if known != order or way not in ("on", "back") or not plain or not all(type(one) is int for one in pk):
        raise _no_cursor()
    try:
        return [way, *([value] if parts == 3 else [_moment(value), *pk])]
    except ValueError:
        raise _no_cursor() from None


def _no_cursor() -> ValidationError:
    return ValidationError({"cursor": ["Found no cursor of this list in this order, expected one as `next` has it."]})


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return f"@{value.isoformat()}"
    return f"={value}" if isinstance(value, str) else value


def _moment(value: Any) -> Any:
    """What ``_plain`` made plain; ValueError for another."""
    if not isinstance(value, str):
        return value
    if value[:1] not in ("@", "="):
        raise ValueError(value)
    return datetime.fromisoformat(value[1:]) if value.startswith("@") else value[1:]
