"""JSON Schema of simcore's frozen dataclasses: as they are told (``encode``) and as they are asked for (``decode``)."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from planner.api.shapes import Shape, asked, flag, many, maybe, money, number, one_of, text, told, whole

PLAIN: dict[Any, Callable[[], Shape]] = {str: text, int: whole, float: number, bool: flag, Decimal: money}


def told_of(cls: Any, words: str = "") -> Shape:
    """All fields, as they are always told."""
    hints = get_type_hints(cls)
    return told(words, **{one.name: _shape(hints[one.name], told_of) for one in fields(cls)})


def asked_of(cls: Any, words: str = "") -> Shape:
    """Those without a default are required; a Decimal may be a number or its text."""
    hints, every = get_type_hints(cls), fields(cls)
    required = [one.name for one in every if one.default is MISSING and one.default_factory is MISSING]
    return asked(words, required=required, **{one.name: _given(hints[one.name]) for one in every})


def _given(hint: Any) -> Shape:
    found = _shape(hint, asked_of)
    if Decimal in (hint, *get_args(hint)):
        return {"type": ["number", "string", *(["null"] if NoneType in get_args(hint) else [])]}
    return found


def _shape(hint: Any, of: Callable[[Any], Shape]) -> Shape:
    origin, options = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        rest = [option for option in options if option is not NoneType]
        if len(rest) > 1:
            return {}
        found = _shape(rest[0], of)
        return maybe(found) if NoneType in options else found
    if origin is Literal:
        return one_of(*map(str, options))
    if origin is tuple:
        return many(_given(options[0]) if of is asked_of else _shape(options[0], of))
    if is_dataclass(hint):
        return of(hint)
    if origin in (dict, Mapping) or hint in (dict, Mapping):
        return {"type": "object"}
    return PLAIN[hint]() if hint in PLAIN else {}
