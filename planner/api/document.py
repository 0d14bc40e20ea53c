"""The OpenAPI 3.1 document of REST v1: what the operations declare (operation.py), put together by drf-spectacular.

Loaded when somebody asks for the document, not before: the server's answers need nothing of it.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.settings import patched_settings
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from planner.api.errors import PROBLEM
from planner.api.idempotency import HEADER
from planner.api.operation import JSON, File, Operation
from planner.api.shapes import Shape, many, text, told, whole
from planner.lazy import LazyView

Json = dict[str, Any]
VERSION = "1.0.0"
HIDDEN = "anything"
"""The argument of the address that answers what no address is."""
FIELD_PROBLEM = told("", field=text("Such as `inputs.rate_req_per_s`, or a parameter or header."), detail=text())
PROBLEM_SHAPE = told(
    "RFC 9457. `error` says the same under the names that v1 began with.",
    type=text(),
    title=text(),
    status=whole(),
    detail=text(),
    code=text("Which problem, in a word."),
    errors=many(FIELD_PROBLEM),
    error=told("", status=whole(), code=text(), message=text(), fields={"type": "object"}),
)
SAID = {
    400: "Something that was sent cannot be: `errors` names the field.",
    401: "No token, or one that is none.",
    403: "Its token may only read, or its user may not write in the team.",
    404: "Not there, or not yours.",
    405: "No such method here.",
    406: "JSON is all there is.",
    409: "Not as things are: `detail` says why.",
    412: "It was changed since what If-Match names.",
    413: "Too large.",
    415: "Of another content type than is read here.",
    422: "The Idempotency-Key came with another request.",
    428: "If-Match is missing.",
    429: "Too many requests: Retry-After says when to go on.",
    304: "As If-None-Match says: nothing changed.",
}
ALWAYS = (401, 429)
WAIT = OpenApiParameter("Retry-After", int, "header", response=["429"], required=True, description="Seconds.")
BEARER: Json = {
    "type": "http",
    "scheme": "bearer",
    "description": "`pp_<key>.<secret>`, as the page API tokens makes it.",
}
SESSION: Json = {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "As the pages have it."}
SETTINGS: Json = {
    "TITLE": "Phaseplan REST v1",
    "DESCRIPTION": "Capacity planning for LLM inference: questions, studies, their answers and costs. docs/api.md says"
    " how it is used and what may change within v1.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVERS": [{"url": "/"}],
    "APPEND_COMPONENTS": {
        "schemas": {"Problem": PROBLEM_SHAPE},
        "securitySchemes": {"bearer": BEARER, "session": SESSION},
    },
    "SORT_OPERATION_PARAMETERS": False,
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}


class DeclaredSchema(AutoSchema):
    """An operation as its handler declares it."""

    @property
    def said(self) -> Operation:
        found: Operation = getattr(self.view, self.method.lower()).operation
        return found

    def get_operation_id(self) -> str:
        return f"{self.method.lower()}_{self.view.address_name.replace('-', '_')}"

    def get_summary(self) -> str:
        return self.said.summary

    def get_description(self) -> str:
        """The view's, where it is of one method, and the handler's own."""
        words = getattr(self.view, self.method.lower()).__doc__ or self.view.__class__.__doc__ or ""
        return " ".join(words.split())

    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").partition("/")[0] or "root"]

    def is_deprecated(self) -> bool:
        return self.said.deprecated

    def get_auth(self) -> list[Json]:
        return [{"bearer": []}, {"session": []}]

    def get_override_parameters(self) -> list[Any]:
        said = self.said
        found = [
            OpenApiParameter(
                one.name,
                {"type": "array", "items": _plain(one.shape)} if one.several else _plain(one.shape),
                "query",
                description=one.shape.get("description", ""),
            )
            for one in said.query
            if not one.begins
        ]
        found += [_any_that_begins(one.name, one.shape) for one in said.query if one.begins]
        if self.method == "POST":
            words = "So that what is sent twice is done once; kept for a day."
            key = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": r"^[!-~]+$"}
            found.append(OpenApiParameter(HEADER, key, "header", description=words))
        if said.match:
            words = "The ETag that GET of this address answered."
            found.append(
                OpenApiParameter("If-Match", text(), "header", required=said.match == "required", description=words)
            )
        if self.method == "GET" and 200 in said.answers:
            found.append(OpenApiParameter("If-None-Match", text(), "header", description="The ETag of what is known."))
            found.append(OpenApiParameter("ETag", text(), "header", response=["200"], description="Of the content."))
        for status, names in said.headers.items():
            found += [OpenApiParameter(name, text(), "header", response=[str(status)], required=True) for name in names]
        return [*found, WAIT]

    def get_request_serializer(self) -> Json | None:
        said, found = self.said, {}
        if said.body is not None:
            found[JSON] = said.body
        if said.form is not None:
            found["multipart/form-data"] = said.form
        return found or None

    def get_response_serializers(self) -> dict[Any, OpenApiResponse]:
        said, found = self.said, dict[Any, OpenApiResponse]()
        for status, shape in said.answers.items():
            if isinstance(shape, File):
                for kind in shape.content_types:
                    known = {"description": "JSON."} if kind == JSON else {"type": "string"}
                    found[(str(status), kind)] = OpenApiResponse(known, "The file.")
            elif shape is None:
                found[str(status)] = OpenApiResponse(None, "Done.")
            else:
                found[(str(status), JSON)] = OpenApiResponse(shape, WORDS.get(status, ""))
        if self.method == "GET" and 200 in said.answers:
            found["304"] = OpenApiResponse(None, SAID[304])
        for status in sorted({*ALWAYS, *self._problems(said)} - set(said.answers)):
            found[(str(status), PROBLEM)] = OpenApiResponse({"$ref": "#/components/schemas/Problem"}, SAID[status])
        return found

    def _problems(self, said: Operation) -> set[int]:
        found = {*said.errors, 400}
        if "{" in self.path:
            found.add(404)
        if self.method != "GET":
            found.add(403)
        if self.method == "POST":
            found |= {409, 422}
        if said.body is not None or said.form is not None:
            found |= {413, 415}
        if said.match:
            found |= {412, 428} if said.match == "required" else {412}
        return found


WORDS = {200: "As it is now.", 201: "Made; `Location` is its address.", 202: "Not done yet: ask again."}


@cache
def document() -> Json:
    """The whole of it."""
    from planner.api.urls import urlpatterns

    generator = SchemaGenerator(patterns=[path("api/v1/", include(_loaded(urlpatterns)))])
    with patched_settings(SETTINGS):
        found: Json = json.loads(json.dumps(generator.get_schema(request=None, public=True)))
    return _shared(found)


def _shared(found: Json) -> Json:
    """With the shapes that have a name once, among the components."""
    schemas = found["components"]["schemas"]

    def shared(value: Any) -> Any:
        if isinstance(value, list):
            return [shared(one) for one in value]
        if not isinstance(value, dict):
            return value
        inside = {key: shared(one) for key, one in value.items()}
        name = inside.get("title")
        if not isinstance(name, str) or not {"type", "anyOf"} & set(inside):
            return inside
        known = schemas.setdefault(name, {key: one for key, one in inside.items() if key != "title"})
        if known != {key: one for key, one in inside.items() if key != "title"}:
            raise ValueError(f"two shapes are called {name}")
        return {"$ref": f"#/components/schemas/{name}"}

    found["paths"] = shared(found["paths"])
    found["components"]["schemas"] = dict(sorted(schemas.items()))
    return found


def as_text() -> str:
    """As docs/openapi.json holds it, and /api/v1/openapi.json answers it."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def _loaded(patterns: list[Any]) -> list[Any]:
    """The same addresses with their views in place of the names of those."""
    found: list[Any] = []
    for entry in patterns:
        if isinstance(entry, URLResolver):
            found.append(path(str(entry.pattern), include(_loaded(entry.url_patterns))))
        elif isinstance(entry, URLPattern) and HIDDEN not in str(entry.pattern):
            found.append(path(str(entry.pattern), _named(entry.callback, entry.name), name=entry.name))
    return found


def _named(callback: Any, name: str | None) -> Callable[..., Any]:
    """The view, with its address's name, by which the operation is called."""
    view: Any = callback.view if isinstance(callback, LazyView) else callback
    known: Any = type(view.cls.__name__, (view.cls,), {"address_name": name, "__doc__": view.cls.__doc__})
    made: Callable[..., Any] = known.as_view()
    return made


def _plain(shape: Shape) -> Shape:
    return {key: value for key, value in shape.items() if key != "description"}


def _any_that_begins(name: str, shape: Shape) -> OpenApiParameter:
    kind = {"type": "object", "additionalProperties": _plain(shape)}
    words = f"{shape.get('description', '')} Any number of `{name}…`."
    return OpenApiParameter(f"{name}*", kind, "query", description=words.strip(), style="form", explode=True)
