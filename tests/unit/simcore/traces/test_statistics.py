"""Statistics against values worked out by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from simcore.traces import Trace
from simcore.traces.inspect import inspect
from simcore.traces.statistics import burstiness, percentile, spearman, statistics

S = 10**12


@pytest.mark.parametrize(("percent", "value"), [(0, 10), (1, 10), (50, 20), (51, 30), (75, 30), (99, 40), (100, 40)])
def test_percentile_is_a_value_of_the_data(percent: float, value: int) -> None:
    assert percentile(np.array([40, 10, 30, 20]), percent) == value


def test_percentile_is_not_pushed_up_by_rounding() -> None:
    assert percentile(np.arange(1, 1001), 99.9) == 999


def test_spearman_shares_ranks_of_equal_values() -> None:
    assert spearman(np.array([1, 2, 3]), np.array([10, 20, 90])) == pytest.approx(1)
    assert spearman(np.array([1, 2, 3]), np.array([3, 2, 1])) == pytest.approx(-1)
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4: covariance 4.5 over sqrt(4.5 x 5)
    assert spearman(np.array([1, 5, 5, 9]), np.array([1, 2, 3, 4])) == pytest.approx(4.5 / (4.5 * 5) ** 0.5)
    assert spearman(np.array([1, 1]), np.array([1, 2])) is None


def test_burstiness_of_even_arrivals_is_nothing() -> None:
    trace = Trace.of("t", np.arange(101) * S, np.ones(101), np.ones(101))
    assert burstiness(trace) == {"window_s": 10.0, "dispersion": 0.0, "gap_cv": 0.0}


def test_burstiness_of_pairs() -> None:
    # windows of 2 s hold 3, 0, 3, 0 requests: mean 1.5, variance 2.25
    arrivals = [0, 0, S, 4 * S, 4 * S, 5 * S, 8 * S]
    trace = Trace.of("t", arrivals, [1] * 7, [1] * 7)
    assert burstiness(trace, 2)["dispersion"] == pytest.approx(1.5)


def test_undefined_figures_are_none() -> None:
    figures = statistics(Trace.of("t", [7], [5], [3]))
    assert figures["rate_req_per_s"] is None
    assert figures["length_rank_correlation"] is None
    assert figures["burstiness"] == {"window_s": 10.0, "dispersion": None, "gap_cv": None}
    json.dumps(figures, allow_nan=False)


def test_rate_counts_gaps() -> None:
    figures = statistics(Trace.of("t", [S, 2 * S, 3 * S], [5, 6, 7], [1, 1, 4], max_output_tokens=[0, 1, 0]))
    assert (figures["rate_req_per_s"], figures["duration_s"], figures["first_arrival_s"]) == (1, 2, 1)
    assert figures["prompt_tokens"] == {"total": 18, "mean": 6, "min": 5, "p50": 6, "p90": 7, "p99": 7, "max": 7}
    assert figures["output_tokens"]["mean"] == 2
    assert figures["requests_with_max_output_tokens"] == 1


def test_inspect_says_all_of_it_in_json(shared_data: Path) -> None:
    said = inspect(shared_data / "traces" / "azure_conv_2023.csv")
    assert (said["name"], said["format"], said["rows_read"]) == ("azure_conv_2023.csv", "azure", 19366)
    assert said["statistics"]["prompt_tokens"]["p50"] == 1020
    assert said["statistics"]["output_tokens"]["p50"] == 129
    assert said["statistics"]["rate_req_per_s"] == pytest.approx(5.53, abs=0.001)
    assert len(said["content_hash"]) == 64
    json.dumps(said, allow_nan=False)
