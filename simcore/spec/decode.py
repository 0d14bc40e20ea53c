"""JSON to frozen dataclasses and back, with errors that name the key, what was found and what is expected.

A dataclass says what it accepts by its type hints (``int``, ``float``, ``str``, ``bool``, ``X | None``,
``Literal[...]``, ``tuple[X, ...]``, another dataclass) and by ``bounded(...)`` defaults.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import sys
import types
import typing
from collections.abc import Hashable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

T = TypeVar("T")

MOST_INT, LEAST_INT = 2**63 - 1, -(2**63)
"""Whole numbers that the simulation's arithmetic holds."""


class SpecError(ValueError):
    """Bad input. ``str(error)`` is one line: the key, what was found, what is expected."""


def bounded(
    default: Any = dataclasses.MISSING,
    *,
    least: float | Decimal | None = None,
    most: float | None = None,
    above: float | None = None,
) -> Any:
    """A dataclass field whose number must be >= least, <= most and > above."""
    limits = {"least": least, "most": most, "above": above}
    return dataclasses.field(default=default, metadata={k: v for k, v in limits.items() if v is not None})


def decode(cls: type[T], value: Any, where: str = "") -> T:
    """Build the dataclass ``cls`` from a JSON object; SpecError names the first bad key below ``where``."""
    if not isinstance(value, Mapping):
        raise SpecError(f"{where or cls.__name__}: found {shown(value)}, expected an object")
    fields = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    _refuse_unknown(value, list(fields), where)
    hints = _hints(cls)  # type: ignore[arg-type]
    given = {
        name: _convert(hints[name], value[name], _join(where, name), fields[name].metadata)
        for name in fields
        if name in value
    }
    for name, field in fields.items():
        if name not in given and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise SpecError(f"{_join(where, name)}: missing, expected {_expected(hints[name])}")
    try:
        return cls(**given)
    except SpecError as error:
        raise SpecError(f"{where}.{error}" if where else str(error)) from None


def encode(value: Any) -> Any:
    """The JSON form of a dataclass (nested tuples become lists); ``decode`` gives an equal object back."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(k): encode(v) for k, v in value.items()}
    return str(value) if isinstance(value, Decimal) else value


def nearest(name: str, known: typing.Iterable[str]) -> str:
    """`` (nearest: 'x')`` for the known name most like ``name``, else an empty string."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.0)
    return f" (nearest: '{found[0]}')" if found else ""


def shown(value: Any) -> str:
    """A value as a message shows it: long ones cut."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


@functools.cache
def _hints(cls: Hashable) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _refuse_unknown(value: Mapping[str, Any], known: list[str], where: str) -> None:
    for key in value:
        if key not in known:
            raise SpecError(
                f"{_join(where, str(key))}: unknown key, expected one of {', '.join(known)}{nearest(str(key), known)}"
            )


def _convert(hint: Any, value: Any, where: str, limits: Mapping[str, Any]) -> Any:
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(hint, value, where, limits)
    if origin is typing.Literal:
        return _convert_choice(typing.get_args(hint), value, where)
    if origin is tuple:
        return _convert_tuple(typing.get_args(hint)[0], value, where, limits)
    if origin in (dict, Mapping) or hint in (dict, Mapping):
        return _require(isinstance(value, Mapping), dict, value, where)
    if dataclasses.is_dataclass(hint):
        return decode(typing.cast(type, hint), value, where)
    return _convert_scalar(hint, value, where, limits)


def _convert_union(hint: Any, value: Any, where: str, limits: Mapping[str, Any]) -> Any:
    options = [option for option in typing.get_args(hint) if option is not type(None)]
    if value is None:
        return _require(type(None) in typing.get_args(hint), hint, None, where)
    for option in options:
        if isinstance(value, str) and (option is str or value in typing.get_args(option)):
            return value
    wanted = [option for option in options if option is not str] or options
    return _convert(wanted[0], value, where, limits)


def _convert_choice(choices: tuple[Any, ...], value: Any, where: str) -> Any:
    if value not in choices:
        hint = nearest(value, [str(c) for c in choices]) if isinstance(value, str) else ""
        raise SpecError(f"{where}: found {shown(value)}, expected one of {', '.join(map(str, choices))}{hint}")
    return value


def _convert_tuple(hint: Any, value: Any, where: str, limits: Mapping[str, Any]) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise SpecError(f"{where}: found {shown(value)}, expected a list")
    return tuple(_convert(hint, item, f"{where}[{i}]", limits) for i, item in enumerate(value))


def _convert_scalar(hint: Any, value: Any, where: str, limits: Mapping[str, Any]) -> Any:
    if hint is bool:
        return _require(isinstance(value, bool), bool, value, where)
    if hint is str:
        return _require(isinstance(value, str), str, value, where)
    if hint is Decimal:
        return _within(_decimal(value, where), where, limits)
    number = _is_number(value)
    if hint is int:
        _require(number and value == int(value), int, value, where)
        return _within(int(value), where, {"least": LEAST_INT, "most": MOST_INT, **limits})
    if hint is float:
        _require(number, float, value, where)
        return _within(float(value), where, limits)
    return value


def _is_number(value: Any) -> bool:
    """A finite number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _decimal(value: Any, where: str) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        number = Decimal("NaN")
    return Decimal(_require(number.is_finite() and not isinstance(value, bool), Decimal, value, where) and number)


def _within(number: Any, where: str, limits: Mapping[str, Any]) -> Any:
    checks = {
        "least": (number >= limits.get("least", number), "at least"),
        "most": (number <= limits.get("most", number), "at most"),
        "above": ("above" not in limits or number > limits["above"], "more than"),
    }
    for name, (holds, words) in checks.items():
        if not holds:
            raise SpecError(f"{where}: found {_exactly(number)}, expected {words} {_exactly(limits[name])}")
    return number


def _exactly(number: Any) -> str:
    """A number in full, so that it is never shown equal to the limit that it breaks."""
    whole = isinstance(number, float) and number.is_integer() and abs(number) <= MOST_INT
    return shown(int(number) if whole else number).removeprefix("Decimal('").removesuffix("')")


def _require(holds: bool, hint: Any, value: Any, where: str) -> Any:
    if not holds:
        raise SpecError(f"{where}: found {shown(value)}, expected {_expected(hint)}")
    return value


def _expected(hint: Any) -> str:
    names = {
        int: "a whole number",
        float: "a finite number",
        Decimal: "a decimal number",
        str: "text",
        bool: "true or false",
        dict: "an object",
    }
    if hint in names:
        return names[hint]
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(map(str, typing.get_args(hint)))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return " or ".join(_expected(option) for option in typing.get_args(hint) if option is not type(None))
    return "a list" if typing.get_origin(hint) is tuple else "an object"


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
