"""Statistics against values worked out by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

from simcore.traces import Trace
from simcore.traces.inspect import inspect
from simcore.traces.statistics import arrivals, burstiness, index_of_dispersion, percentile, spearman, statistics

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
    assert burstiness(trace) == {"index_of_dispersion": {"1_s": 0.0, "10_s": 0.0, "60_s": None}, "gap_cv": 0.0}


def test_burstiness_of_pairs() -> None:
    # windows of 2 s hold 3, 0, 3, 0 requests: mean 1.5, variance 2.25
    arrivals = [0, 0, S, 4 * S, 4 * S, 5 * S, 8 * S]
    trace = Trace.of("t", arrivals, [1] * 7, [1] * 7)
    assert index_of_dispersion(trace, 2) == 1.5


def test_the_index_of_bursts_grows_with_the_window_that_holds_them() -> None:
    # ten at once every 5 s: windows of 1 s hold 10 or 0 (mean 2, variance 16), windows of 10 and 60 s always the same
    trace = Trace.of("t", np.repeat(np.arange(121) * 5 * S, 10), np.ones(1210), np.ones(1210))
    assert burstiness(trace)["index_of_dispersion"] == {"1_s": 8.0, "10_s": 0.0, "60_s": 0.0}
    # a busy minute after an idle one: 60 s see it best
    busy = np.concatenate([120 * S * block + np.arange(60) * S for block in range(20)] + [[2400 * S]])
    found = burstiness(Trace.of("t", busy, np.ones(1201), np.ones(1201)))["index_of_dispersion"]
    assert found == {"1_s": 0.5, "10_s": 5.0, "60_s": 30.0}


def test_what_comes_after_the_last_whole_window_is_not_counted() -> None:
    trace = Trace.of("t", [0, S, 2 * S, 2 * S, 2 * S + 1], [1] * 5, [1] * 5)
    assert index_of_dispersion(trace, 1) == 0.0
    assert index_of_dispersion(trace, 2) is None


def test_arrivals_say_how_they_came_about() -> None:
    found = arrivals(Trace.of("t", np.arange(101) * S, np.ones(101), np.ones(101)), "trace")
    assert found == {"how": "trace", "requests": 101, "rate_req_per_s": 1.0, "gap_cv": 0.0,
                     "index_of_dispersion": {"1_s": 0.0, "10_s": 0.0, "60_s": None}}  # fmt: skip
    assert arrivals(Trace.of("t", [7], [5], [3]), "trace")["rate_req_per_s"] is None


def test_undefined_figures_are_none() -> None:
    figures = statistics(Trace.of("t", [7], [5], [3]))
    assert figures["rate_req_per_s"] is None
    assert figures["length_rank_correlation"] is None
    nothing = {"1_s": None, "10_s": None, "60_s": None}
    assert figures["burstiness"] == {"index_of_dispersion": nothing, "gap_cv": None}
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
    assert "at_rate" not in said
    json.dumps(said, allow_nan=False)


def test_inspect_says_how_bursty_a_trace_would_be_at_another_rate(shared_data: Path) -> None:
    path = shared_data / "traces" / "azure_code_2023.csv"
    found = {how: inspect(path, 25.0, how, seed=1)["at_rate"] for how in ("trace", "superpose", "poisson")}
    index = {how: figures["index_of_dispersion"] for how, figures in found.items()}
    assert {how: figures["requests"] for how, figures in found.items()} == {
        "trace": 8819, "superpose": 10 * 8819, "poisson": 8819,
    }  # fmt: skip
    assert all(figures["rate_req_per_s"] == pytest.approx(25, rel=0.05) for figures in found.values())
    own = inspect(path)["statistics"]["burstiness"]["index_of_dispersion"]
    assert index["superpose"]["10_s"] == pytest.approx(own["10_s"], rel=0.25)
    assert index["trace"]["10_s"] > 2 * own["10_s"] > 20 * index["poisson"]["10_s"]
    assert index["poisson"]["1_s"] == pytest.approx(1, abs=0.25)
