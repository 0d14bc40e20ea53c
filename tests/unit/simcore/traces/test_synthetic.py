"""Mixes: they fit the traces they were fitted to, and are the same everywhere."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from simcore.spec.decode import SpecError
from simcore.traces import Trace, TraceError, read_trace
from simcore.traces.mixes import PARTS, RANK_BINS, mix, mix_names
from simcore.traces.statistics import burstiness, percentile, spearman
from simcore.traces.synthetic import SyntheticSpec, generate

FILES = {"conversation": "azure_conv_2023.csv", "coding": "azure_code_2023.csv"}
COLUMNS = ("prompt_tokens", "output_tokens")


@pytest.fixture(scope="module")
def generated() -> dict[str, Trace]:
    return {name: generate(SyntheticSpec(mix=name, requests=100_000, seed=7)) for name in FILES}


@pytest.fixture(scope="module")
def measured(shared_data: Path) -> dict[str, Trace]:
    return {name: read_trace(shared_data / "traces" / file)[0] for name, file in FILES.items()}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("column", COLUMNS)
def test_lengths_fit_their_trace(
    generated: dict[str, Trace], measured: dict[str, Trace], name: str, column: str
) -> None:
    ours, theirs = getattr(generated[name], column), getattr(measured[name], column)
    points = np.union1d(ours, theirs)
    cdfs = [np.searchsorted(np.sort(values), points, side="right") / len(values) for values in (ours, theirs)]
    # The fit's own error is below 0.005; 100,000 requests add at most 0.004 in 99 of 100 seeds.
    assert np.abs(cdfs[0] - cdfs[1]).max() < 0.009
    assert ours.mean() == pytest.approx(theirs.mean(), rel=0.02)
    for percent in (50, 90):
        assert percentile(ours, percent) == pytest.approx(percentile(theirs, percent), rel=0.02, abs=1)
    assert percentile(ours, 99) == pytest.approx(percentile(theirs, 99), rel=0.05)
    assert theirs.min() <= ours.min()
    assert ours.max() <= theirs.max()


@pytest.mark.parametrize("name", FILES)
def test_lengths_go_together_as_in_their_trace(
    generated: dict[str, Trace], measured: dict[str, Trace], name: str
) -> None:
    ours, theirs = generated[name], measured[name]
    correlations = [spearman(trace.prompt_tokens, trace.output_tokens) for trace in (ours, theirs)]
    assert correlations[0] == pytest.approx(correlations[1], abs=0.02)
    for tenth in range(10):
        medians = [percentile(_outputs_of_tenth(trace, tenth), 50) for trace in (ours, theirs)]
        assert medians[0] == pytest.approx(medians[1], rel=0.06, abs=1)


def _outputs_of_tenth(trace: Trace, tenth: int) -> np.ndarray:
    order = np.argsort(trace.prompt_tokens, kind="stable")
    return trace.output_tokens[np.array_split(order, 10)[tenth]]


@pytest.mark.usefixtures("shared_data")
def test_committed_tables_are_what_the_fit_gives() -> None:
    run = subprocess.run(
        [sys.executable, "benchmarks/fit_mixes.py", "--check"],
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_generated_traces_are_the_same_on_every_machine(generated: dict[str, Trace]) -> None:
    # Frozen: a change here changes every stored study of a mix.
    assert {name: trace.content_hash()[:16] for name, trace in generated.items()} == {
        "conversation": "d8f1052f4050c22a",
        "coding": "1dae147d2686d906",
    }


@pytest.mark.parametrize("name", FILES)
def test_tables_are_distributions(name: str) -> None:
    shipped = mix(name)
    for lengths in (shipped.prompt, shipped.output):
        assert (lengths.parts[0], lengths.parts[-1]) == (0, PARTS)
        assert np.all(np.diff(lengths.parts) > 0)
        assert np.all(np.diff(lengths.tokens) > 0)
        assert lengths.at(np.array([0, PARTS - 1])).tolist() == [lengths.tokens[0] + 1, lengths.tokens[-1]]
    for axis in (0, 1):
        assert shipped.rank_shares.sum(axis=axis) == pytest.approx(1_000_000 / RANK_BINS, abs=RANK_BINS)


def test_mix_names_are_the_two_shipped_ones() -> None:
    assert mix_names() == ("conversation", "coding")
    with pytest.raises(KeyError):
        mix("poetry")


def test_poisson_arrivals_are_poisson() -> None:
    trace = generate(SyntheticSpec(mix="coding", rate_req_per_s=20, requests=100_000))
    assert trace.rate_per_s == pytest.approx(20, rel=0.01)
    figures = burstiness(trace)
    assert figures["gap_cv"] == pytest.approx(1, abs=0.02)
    assert figures["index_of_dispersion"]["10_s"] == pytest.approx(1, abs=0.2)


def test_arrivals_are_whole_microseconds() -> None:
    trace = generate(SyntheticSpec(mix="coding", rate_req_per_s=70, requests=1000))
    assert not (trace.arrival_ps % 1_000_000).any()


def test_constant_arrivals_are_evenly_spaced() -> None:
    trace = generate(SyntheticSpec(mix="coding", rate_req_per_s=4, requests=5, arrivals="constant"))
    assert trace.arrival_ps.tolist() == [0, 250_000_000_000, 500_000_000_000, 750_000_000_000, 10**12]


def test_another_rate_or_count_keeps_each_request() -> None:
    slow = generate(SyntheticSpec(mix="conversation", rate_req_per_s=1, requests=500, seed=3))
    fast = generate(SyntheticSpec(mix="conversation", rate_req_per_s=8, requests=800, seed=3))
    assert fast.prompt_tokens[:500].tolist() == slow.prompt_tokens.tolist()
    assert fast.output_tokens[:500].tolist() == slow.output_tokens.tolist()
    assert np.abs(fast.arrival_ps[:500] * 8 - slow.arrival_ps).max() <= 8 * 500_000 + 500_000


def test_duration_ends_the_trace() -> None:
    spec = SyntheticSpec(mix="coding", rate_req_per_s=50, duration_s=120)
    trace = generate(spec)
    assert trace.arrival_ps[-1] <= 120 * 10**12
    assert len(trace) == pytest.approx(6000, abs=400)
    longer = generate(SyntheticSpec(mix="coding", rate_req_per_s=50, requests=len(trace) + 1))
    assert longer.arrival_ps[-1] > 120 * 10**12
    assert longer.first(len(trace)).content_hash() == trace.content_hash()


def test_spec_round_trips_as_json() -> None:
    spec = SyntheticSpec(mix="coding", rate_req_per_s=2.5, duration_s=60, arrivals="constant", seed=9)
    assert SyntheticSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({}, "synthetic.mix: give exactly one of mix and classes"),
        (
            {"mix": "conversations"},
            "found 'conversations', expected one of conversation, coding (nearest: 'conversation')",
        ),
        ({"mix": "coding", "rate": 3}, "synthetic.rate: unknown key"),
        ({"mix": "coding", "rate_req_per_s": 0}, "synthetic.rate_req_per_s: found 0, expected more than 0"),
        ({"mix": "coding", "requests": 0}, "synthetic.requests: found 0, expected at least 1"),
        ({"mix": "coding", "requests": 1e9}, "synthetic.requests: found 1000000000, expected at most 5000000"),
        ({"mix": "coding", "requests": 5, "duration_s": 5}, "found both requests and duration_s"),
        ({"mix": "coding", "rate_req_per_s": 1e6, "duration_s": 1e6}, "expected at most 5,000,000"),
    ],
)
def test_bad_spec_names_the_key(spec: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        SyntheticSpec.from_json(spec)
    assert message in str(caught.value)


def test_a_duration_without_arrivals_is_an_error() -> None:
    with pytest.raises(TraceError, match=r"found no arrival within 0\.001 s"):
        generate(SyntheticSpec(mix="coding", rate_req_per_s=0.01, duration_s=0.001))


def test_a_rate_too_low_for_the_clock_is_an_error() -> None:
    with pytest.raises(TraceError, match="expected at most 5400000 s"):
        generate(SyntheticSpec(mix="coding", rate_req_per_s=1e-4, requests=10_000))
