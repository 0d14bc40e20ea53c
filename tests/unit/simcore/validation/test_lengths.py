"""Lengths that rows state, and those assumed of the data sets that they name."""

from __future__ import annotations

import numpy as np
import pytest

from simcore.validation.lengths import Tokens, workload
from simcore.validation.names import Unknown


@pytest.mark.parametrize("tokens", [Tokens(294, 0.85, 1024), Tokens(9400, 0.6, 20000), Tokens(147, 0.9, 1024)])
def test_a_distribution_keeps_its_mean_and_its_longest(tokens: Tokens) -> None:
    lengths = tokens.quantiles()
    assert lengths.mean() == pytest.approx(tokens.mean, rel=1e-3)
    assert lengths.max() <= (tokens.longest or 0)
    assert lengths.min() >= 1
    assert 0.6 * tokens.spread < lengths.std() / lengths.mean() <= tokens.spread * 1.02


def test_a_sample_is_of_that_distribution_and_always_the_same() -> None:
    lengths = workload("~294 (memory)", "301.1", "llama2-70b")
    prompts, outputs = lengths.sample(20_000, 0)
    assert prompts.mean() == pytest.approx(294, rel=0.03)
    assert outputs.mean() == pytest.approx(301.1, rel=0.03)
    assert abs(np.corrcoef(prompts, outputs)[0, 1]) < 0.03
    assert np.array_equal(prompts[:100], lengths.sample(100, 0)[0])
    assert "OpenOrca: prompts mean 294" in lengths.assumes


def test_classes_have_the_means_of_the_distribution() -> None:
    classes = workload("~778 (memory)", "~129", "llama-3.1-8b").classes()
    assert classes.prompt == pytest.approx(778, rel=1e-3)
    assert classes.steps == pytest.approx(128)


def test_stated_numbers_are_taken_as_they_are() -> None:
    stated = workload("5000", "500", "llama-3.1-70b")
    assert stated.assumes == ""
    assert (stated.classes().prompt, stated.classes().steps) == (5000, 499)


def test_an_output_as_stated_is_not_cut_below_itself() -> None:
    assert workload("~778 (memory)", "~129", "llama-3.1-8b").output.quantiles().max() == 129


@pytest.mark.parametrize(("isl", "osl"), [("?", "500"), ("500", "?"), ("", ""), ("~294 (memory)", "300")])
def test_lengths_that_are_not_stated(isl: str, osl: str) -> None:
    """Of a data set only with the model that it belongs to."""
    with pytest.raises(Unknown, match="length is not stated"):
        workload(isl, osl, "qwen3-32b")
