"""The trace itself: its rules, its hash, its arrays that nobody changes."""

import numpy as np
import pytest

from simcore.traces import Trace, TraceError

GOOD = {"arrival_ps": [0, 5, 5], "prompt_tokens": [3, 4, 5], "output_tokens": [1, 2, 3]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arrival_ps": [0, 5, 4]}, "request 2: arrival_ps: found 4, expected no earlier than the one before"),
        ({"arrival_ps": [-1, 5, 5]}, "request 0: arrival_ps: found -1, expected 0 or more"),
        ({"arrival_ps": [0, 1, 6 * 10**18]}, "request 2: arrival_ps: found 6000000000000000000, expected at most"),
        ({"prompt_tokens": [3, 0, 5]}, "request 1: prompt_tokens: found 0, expected 1 to 10000000"),
        ({"output_tokens": [1, 2, -3]}, "request 2: output_tokens: found -3"),
        ({"output_tokens": [1, 2]}, "output_tokens: found 2 values, expected 3"),
        ({"output_tokens": [1, 2, 3.5]}, "not whole numbers"),
        ({"output_tokens": [1, 2, float("nan")]}, "not whole numbers"),
        ({"output_tokens": [[1, 2, 3]]}, "found 2-dimensional"),
        ({"cached_prompt_tokens": [3, 0, 0]}, "request 0: cached_prompt_tokens: found 3, expected 0 to prompt"),
        ({"max_output_tokens": [0, 1, 0]}, "request 1: max_output_tokens: found 1, expected 0 (not given) or"),
        ({"classes": ["a"]}, "class: found 1 values, expected 3"),
        ({"sessions": ["a", "b\n", "c"]}, "request 1: session: found a control character"),
        ({key: [] for key in GOOD}, "found 0 values, expected at least one request"),
    ],
)
def test_broken_columns_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(TraceError) as caught:
        Trace.of("t", **{**GOOD, **change})
    assert message in str(caught.value)


def test_columns_cannot_be_changed() -> None:
    trace = Trace.of("t", **GOOD)
    with pytest.raises(ValueError, match="read-only"):
        trace.prompt_tokens[0] = 9


def test_optional_columns_default_to_not_given() -> None:
    trace = Trace.of("t", **GOOD)
    assert trace.cached_prompt_tokens.tolist() == trace.max_output_tokens.tolist() == [0, 0, 0]
    assert trace.classes is trace.sessions is None


def test_duration_and_rate() -> None:
    trace = Trace.of("t", [10**12, 2 * 10**12, 5 * 10**12], [1] * 3, [1] * 3)
    assert (len(trace), trace.duration_s, trace.rate_per_s) == (3, 4.0, 0.5)
    assert Trace.of("t", [1, 1], [1, 1], [1, 1]).rate_per_s == float("inf")


def test_hash_is_of_content_and_not_of_the_name() -> None:
    trace = Trace.of("a", **GOOD)
    assert trace.content_hash() == Trace.of("b", **GOOD).content_hash()
    others = [
        {"arrival_ps": [0, 4, 5]},
        {"prompt_tokens": [3, 4, 6]},
        {"output_tokens": [1, 2, 4]},
        {"cached_prompt_tokens": [1, 0, 0]},
        {"max_output_tokens": [0, 0, 3]},
        {"classes": ["", "", "a"]},
        {"sessions": ["", "", "a"]},
        {"classes": ["", "a", ""]},
    ]
    hashes = {Trace.of("a", **{**GOOD, **other}).content_hash() for other in others}
    assert len(hashes | {trace.content_hash()}) == len(others) + 1


def test_first_keeps_times_and_columns() -> None:
    trace = Trace.of("t", **GOOD, classes=["a", "b", "c"], sessions=["x", "y", "z"])
    start = trace.first(2)
    assert (start.arrival_ps.tolist(), start.classes, start.sessions) == ([0, 5], ("a", "b"), ("x", "y"))
    assert trace.first(3) is trace


def test_arrays_of_another_type_are_refused_outright() -> None:
    column = np.array([1, 2], dtype=np.int32)
    with pytest.raises(TraceError, match="expected one row of int64"):
        Trace("t", column, column, column, column, column)
