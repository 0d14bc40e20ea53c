"""A revision's inputs as JSON Schema, from the question's fields: what a POST may hold, in the document."""

from functools import cache
from typing import Any

from planner.api.shapes import Shape, anything, asked, many, named, text
from planner.scenarios.by_machine import ByMachineField
from planner.scenarios.fields import CountsField, PickField, PickSeveralField, QuantityField
from planner.scenarios.forms import QuestionForm


@cache
def inputs_shape() -> Shape:
    """Names and forms; which ids there are is the catalogue's, and what goes together the form's to say."""
    fields = {name: _shape(name, field) for name, field in QuestionForm.base_fields.items()}
    required = [name for name, field in QuestionForm.base_fields.items() if field.required]
    return named(
        "Inputs", asked("The question's fields; those left out have their defaults.", required=required, **fields)
    )


def _shape(name: str, field: Any) -> Shape:
    words = str(field.label or "")
    if isinstance(field, QuantityField):
        number = f"{field.expected[:1].upper()}{field.expected[1:]}."
        return {"type": ["number", "string", "null"], "description": f"{words}: {number}" if words else number}
    if isinstance(field, CountsField):
        return {"type": ["array", "string", "null"], "items": {"type": ["integer", "string"]}, "description": words}
    if isinstance(field, PickSeveralField):
        return many(text(), words) if field.required else {**many(text(), words), "type": ["array", "null"]}
    if isinstance(field, ByMachineField):
        return {"type": ["object", "null"], "description": words}
    if isinstance(field, PickField):
        return {
            "type": ["string", "integer", "null"] if name == "workload" else ["string", "null"],
            "description": words,
        }
    return anything(words)
