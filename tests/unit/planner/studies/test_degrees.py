"""Several tensor parallel degrees: from the form to STUDY.json, and what is refused."""

import json
from typing import Any

import pytest

from planner.accounts.models import User
from planner.scenarios.errors import FieldErrors
from planner.scenarios.forms import QuestionForm, clean_inputs
from planner.studies.spec import compile_question
from simcore.spec import decode_study, encode


def test_several_tensor_parallel_degrees_reach_study_json(alice: User, inputs: dict[str, Any]) -> None:
    without = compile_question(alice, clean_inputs(alice, inputs)).spec
    assert without.scheduler_options.tensor_parallels == ()
    cleaned = clean_inputs(alice, inputs | {"tensor_parallels": "8, 2, 4, 4"})
    spec = compile_question(alice, cleaned).spec
    plain = json.loads(json.dumps(encode(spec)))
    assert plain["scheduler_options"]["tensor_parallels"] == [2, 4, 8]
    assert decode_study(plain) == spec
    assert 'value="2, 4, 8"' in str(QuestionForm(alice, initial=cleaned)["tensor_parallels"])


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"tensor_parallels": "2, four"}, "Found ‘four’, expected tensor parallel degrees from 1 to 1024 such as"),
        ({"tensor_parallels": "2048"}, "Found ‘2048’, expected tensor parallel degrees from 1 to 1024 such as"),
        ({"tensor_parallels": "1-17"}, "Found 17 degrees, expected at most 16."),
        (
            {"tensor_parallels": "2, 4", "tensor_parallel": "8"},
            "Found 2, 4 beside tensor parallel 8, expected only one of the two.",
        ),
    ],
)
def test_degrees_that_cannot_be_tried_are_refused_at_their_field(
    alice: User, inputs: dict[str, Any], typed: dict[str, str], words: str
) -> None:
    with pytest.raises(FieldErrors) as refused:
        clean_inputs(alice, inputs | typed)
    assert words in refused.value.fields["tensor_parallels"]
