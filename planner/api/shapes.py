"""JSON Schema of what REST v1 reads and writes, as plain dicts: the document shows it, and ``problems`` checks bodies.

An object that is written may have keys beside those listed, in a later version of v1; one that is read may not.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from simcore.spec import nearest

Shape = dict[str, Any]
LONGEST_SHOWN = 60
TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
NAMES = {"object": "an object", "array": "a list", "string": "text", "boolean": "true or false", "null": "null"}
NAMES |= {"integer": "a whole number", "number": "a number"}


def text(words: str = "", **more: Any) -> Shape:
    return _said({"type": "string", **more}, words)


def number(words: str = "", **more: Any) -> Shape:
    return _said({"type": "number", **more}, words)


def whole(words: str = "", **more: Any) -> Shape:
    return _said({"type": "integer", **more}, words)


def flag(words: str = "") -> Shape:
    return _said({"type": "boolean"}, words)


def one_of(*choices: str, words: str = "") -> Shape:
    return _said({"type": "string", "enum": list(choices)}, words)


def money(words: str = "") -> Shape:
    """Decimal text, so that no reader rounds it."""
    return text(words, pattern=r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$")


def time(words: str = "") -> Shape:
    return text(words, format="date-time")


def address(words: str = "") -> Shape:
    return text(words, format="uri")


def many(shape: Shape, words: str = "", **more: Any) -> Shape:
    return _said({"type": "array", "items": shape, **more}, words)


def anything(words: str = "") -> Shape:
    return _said({}, words)


def keyed(shape: Shape, words: str = "") -> Shape:
    """An object with any keys, each of whose values is this."""
    return _said({"type": "object", "additionalProperties": shape}, words)


def maybe(shape: Shape) -> Shape:
    """This, or null."""
    if isinstance(shape.get("type"), str) and "title" not in shape:
        choices = {"enum": [*shape["enum"], None]} if "enum" in shape else {}
        return {**shape, "type": [shape["type"], "null"], **choices}
    return {"anyOf": [shape, {"type": "null"}]}


def told(words: str = "", /, **fields: Shape) -> Shape:
    """An object of an answer: it has all of these, and in time may have more."""
    return _said({"type": "object", "properties": fields, "required": list(fields)}, words)


def named(name: str, shape: Shape) -> Shape:
    """One that the document tells once, under this name, wherever it stands."""
    return {**shape, "title": name}


def with_more(shape: Shape, /, **fields: Shape) -> Shape:
    return {
        **{key: value for key, value in shape.items() if key != "title"},
        "properties": {**shape["properties"], **fields},
        "required": [*shape.get("required", ()), *fields],
    }


def asked(words: str = "", /, required: Iterable[str] = (), **fields: Shape) -> Shape:
    """An object of a request: it may have these, must have the required ones, and nothing else."""
    must = {"required": list(required)} if required else {}
    return _said({"type": "object", "properties": fields, **must, "additionalProperties": False}, words)


def page(row: Shape) -> Shape:
    """A list's answer (see listing.py)."""
    return told(
        "",
        count=whole("Of all pages together."),
        next=maybe(address("The next page; null: this is the last.")),
        previous=maybe(address()),
        results=many(row),
    )


def moment(value: datetime | None) -> str | None:
    return value.isoformat() if value else None


def problems(shape: Shape, value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Field (``inputs.rate``, ``prices[0].usd_per_hour``; empty for the whole) and what is wrong with it."""
    kinds = shape.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield where, f"Found {shown(value)}, expected {' or '.join(NAMES[kind] for kind in kinds)}."
    elif isinstance(value, str):
        yield from _of_text(shape, value, where)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _of_number(shape, value, where)
    elif isinstance(value, Mapping):
        yield from _of_object(shape, value, where)
    elif isinstance(value, list):
        yield from _of_list(shape, value, where)


def unknown(name: str, known: Iterable[str]) -> str:
    """Of a name that is none of these, the nearest said."""
    known = list(known)
    if not known:
        return "Unknown; none is read here."
    return f"Unknown, expected one of {', '.join(known)}{nearest(name, known)}."


def shown(value: Any) -> str:
    said = repr(value)
    return said if len(said) <= LONGEST_SHOWN else said[: LONGEST_SHOWN - 1] + "…"


def is_storable(value: str) -> bool:
    """No database keeps NUL, nor halves of a character."""
    return "\x00" not in value and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _said(shape: Shape, words: str) -> Shape:
    return {**shape, "description": words} if words else shape


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[kind])


def _of_text(shape: Shape, value: str, where: str) -> Iterator[tuple[str, str]]:
    choices = shape.get("enum")
    if choices and value not in choices:
        known = [str(choice) for choice in choices if choice is not None]
        yield where, f"Found {shown(value)}, expected one of {', '.join(known)}{nearest(value, known)}."
    if not is_storable(value):
        yield where, "Found a character that no text holds (NUL, or half of one), expected text."
    if len(value) > shape.get("maxLength", len(value)):
        yield where, f"Found {len(value)} characters, expected at most {shape['maxLength']}."
    if len(value.strip()) < shape.get("minLength", 0):
        yield where, "Found nothing, expected text."


def _of_number(shape: Shape, value: float, where: str) -> Iterator[tuple[str, str]]:
    if value < shape.get("minimum", value):
        yield where, f"Found {shown(value)}, expected at least {shape['minimum']}."
    if value > shape.get("maximum", value):
        yield where, f"Found {shown(value)}, expected at most {shape['maximum']}."


def _of_object(shape: Shape, value: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
    known, others = shape.get("properties", {}), shape.get("additionalProperties", {})
    for name in shape.get("required", ()):
        if name not in value:
            yield _at(where, name), "Missing."
    for name, one in value.items():
        if not is_storable(name):
            yield where, "Found a key with a character that no text holds, expected text."
        elif name in known:
            yield from problems(known[name], one, _at(where, name))
        elif others is False:
            yield _at(where, name), unknown(name, known)
        else:
            yield from problems(others, one, _at(where, name))


def _of_list(shape: Shape, value: list[Any], where: str) -> Iterator[tuple[str, str]]:
    if len(value) > shape.get("maxItems", len(value)):
        yield where, f"Found {len(value)} of them, expected at most {shape['maxItems']}."
        return
    for place, one in enumerate(value):
        yield from problems(shape.get("items", {}), one, f"{where}[{place}]")


def _at(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
