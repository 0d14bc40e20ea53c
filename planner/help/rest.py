"""REST v1 as a page: each operation with what it reads, answers and refuses, and how it is called by curl.

From the OpenAPI document, so from what each handler declares and is checked by: there is no second text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from planner.api.document import SAID, WORDS, document
from planner.api.operation import JSON

Json = dict[str, Any]
COMPONENT = "#/components/schemas/"
DEEPEST = 2
"""Levels of fields within fields that a table tells."""
MOST_CHOICES = 12
LONGEST_LINE = 100
"""Of an example, before it goes on in another line."""
MARKED = re.compile(r"`([^`]+)`")
NAMES = {
    "object": "object",
    "array": "list",
    "string": "text",
    "boolean": "true or false",
    "integer": "whole number",
    "number": "number",
    "null": "null",
}
FORMATS = {"date-time": "time", "uri": "address", "binary": "file"}
PROBLEM_FROM = 400
TITLES = {
    "root": "Addresses",
    "openapi.json": "The document",
    "scenarios": "Questions and their revisions",
    "studies": "Studies: answers, costs, files, links",
    "workloads": "Workloads",
    "catalogue": "Catalogue and price books",
    "calibrations": "Calibrations",
    "power-logs": "Power logs",
    "compare": "Comparing",
}
"""By the first part of an address, in the order of the page; one that is not here comes last, as it is called."""


@dataclass(frozen=True)
class Field:
    """A parameter, or a field of a body or an answer."""

    name: str
    kind: str
    words: str
    required: bool
    where: str = ""
    """Of a parameter: ``path``, ``query``, ``header``."""


@dataclass(frozen=True)
class Described:
    """One operation."""

    name: str
    method: str
    path: str
    summary: str
    words: str
    parameters: tuple[Field, ...]
    body: tuple[Field, ...]
    answers: tuple[tuple[int, str, tuple[Field, ...]], ...]
    """Status, in words, its fields."""
    errors: tuple[tuple[int, str], ...]
    curl: str

    @property
    def is_write(self) -> bool:
        return self.method != "GET"


@cache
def operations() -> tuple[tuple[str, str, tuple[Described, ...]], ...]:
    """Of each part: its name, its title, its operations by address."""
    found: dict[str, list[Described]] = {name: [] for name in TITLES}
    for path, methods in sorted(document()["paths"].items()):
        for method, said in methods.items():
            found.setdefault(said["tags"][0], []).append(_described(path, method, said))
    return tuple((name, TITLES.get(name, name), tuple(every)) for name, every in found.items() if every)


def common_errors() -> list[tuple[int, str]]:
    return [(status, marked(words)) for status, words in SAID.items() if status >= PROBLEM_FROM]


def marked(words: str) -> SafeString:
    """Escaped, with what stands between backticks as code."""
    return mark_safe(MARKED.sub(r"<code>\1</code>", escape(words)))  # noqa: S308 - escaped before


def _described(path: str, method: str, said: Json) -> Described:
    parameters = tuple(_parameter(one) for one in said.get("parameters", ()))
    content = said.get("requestBody", {}).get("content", {})
    shape = _whole(content.get(JSON, {}).get("schema", {}))
    statuses = {int(status): answer for status, answer in said["responses"].items()}
    return Described(
        name=said["operationId"],
        method=method.upper(),
        path=path,
        summary=said.get("summary", ""),
        words=marked(said.get("description", "")),
        parameters=parameters,
        body=tuple(_fields(shape)),
        answers=tuple(
            (status, marked(answer.get("description") or WORDS.get(status, "")), tuple(_answered(answer)))
            for status, answer in statuses.items()
            if status < PROBLEM_FROM
        ),
        errors=tuple((status, marked(SAID.get(status, ""))) for status in sorted(statuses) if status >= PROBLEM_FROM),
        curl=_curl(path, method.upper(), said, shape, content),
    )


def _parameter(one: Json) -> Field:
    shape = one.get("schema", {})
    words = one.get("description", "") or shape.get("description", "")
    return Field(one["name"], kind_of(shape), marked(words), bool(one.get("required")), one["in"])


def _answered(answer: Json) -> Iterator[Field]:
    shape = answer.get("content", {}).get(JSON, {}).get("schema")
    if shape:
        yield from _fields(_whole(shape))


def _whole(shape: Json) -> Json:
    """With what it refers to in its place."""
    name = shape.get("$ref", "").removeprefix(COMPONENT)
    return document()["components"]["schemas"][name] if name else shape


def _fields(shape: Json, prefix: str = "", depth: int = 1) -> Iterator[Field]:
    """Of an object, and of the objects in it: ``inputs.model``, ``results[].id``."""
    required = shape.get("required", ())
    for name, given in shape.get("properties", {}).items():
        inner = _whole(given)
        words = given.get("description") or inner.get("description", "")
        yield Field(f"{prefix}{name}", kind_of(given), marked(words), name in required)
        if depth < DEEPEST:
            items = _whole(inner.get("items", {}))
            yield from _fields(inner, f"{prefix}{name}.", depth + 1)
            yield from _fields(items, f"{prefix}{name}[].", depth + 1)


def kind_of(shape: Json) -> str:
    """In words: ``text``, ``list of whole numbers``, ``book, cash or economic``."""
    shape = _whole(shape)
    if "anyOf" in shape:
        return " or ".join(dict.fromkeys(kind_of(one) for one in shape["anyOf"]))
    choices = [one for one in shape.get("enum", ()) if one is not None]
    if choices:
        told = ", ".join(str(one) for one in choices[:MOST_CHOICES])
        return f"{told}, …" if len(choices) > MOST_CHOICES else told
    kinds = shape.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not kinds:
        return "anything"
    return " or ".join(_kind(one, shape) for one in kinds)


def _kind(kind: str, shape: Json) -> str:
    if kind == "array":
        inner = kind_of(shape.get("items", {}))
        return "list" if inner == "anything" else f"list of: {inner}"
    if kind == "string" and shape.get("format") in FORMATS:
        return FORMATS[shape["format"]]
    if kind in ("integer", "number") and {"minimum", "maximum"} <= set(shape) and shape["maximum"] < 1 << 31:
        return f"{NAMES[kind]}, {shape['minimum']} to {shape['maximum']}"
    return NAMES[kind]


def _curl(path: str, method: str, said: Json, shape: Json, content: Mapping[str, Any]) -> str:
    """``$URL`` is the server, ``$TOKEN`` a token; what is in braces is yours."""
    must = [one for one in said.get("parameters", ()) if one.get("required") and one["in"] == "query"]
    query = "&".join(f"{one['name']}={_plain_example(one['schema'])}" for one in must)
    parts = ['curl -H "Authorization: Bearer $TOKEN"']
    if method not in ("GET", "POST") or (method == "POST" and not content):
        parts.append(f"-X {method}")
    if any(one["name"] == "If-Match" and one.get("required") for one in said.get("parameters", ())):
        parts.append("""-H 'If-Match: "the ETag of its GET"'""")
    if "multipart/form-data" in content:
        parts.append("-F file=@FILE")
    elif content:
        parts += ['-H "Content-Type: application/json"', f"-d '{json.dumps(example_of(shape))}'"]
    parts.append(f'"$URL{path}{"?" + query if query else ""}"')
    plain = " ".join(parts)
    return plain if len(plain) <= LONGEST_LINE else " \\\n     ".join(parts)


def example_of(shape: Json) -> Any:
    """A value that the shape takes, with what it requires alone; of an object that requires nothing its first field."""
    shape = _whole(shape)
    if "anyOf" in shape:
        return example_of(shape["anyOf"][0])
    if shape.get("properties"):
        names = shape.get("required") or list(shape["properties"])[:1]
        return {name: example_of(shape["properties"][name]) for name in names}
    kinds = shape.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "array":
        return [example_of(shape["items"])] if shape.get("items") else []
    return {} if kind == "object" else _plain_example(shape)


def _plain_example(shape: Json) -> Any:
    shape = _whole(shape)
    choices = [one for one in shape.get("enum", ()) if one is not None]
    if choices:
        return choices[0]
    kinds = shape.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "boolean":
        return True
    if kind in ("integer", "number"):
        return max(1, shape.get("minimum", 1))
    if shape.get("format") == "date-time":
        return "2026-12-01T00:00:00Z"
    return "1" if "pattern" in shape else "…"
