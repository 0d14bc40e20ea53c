"""Mixes of named classes: lengths as asked for, correlation, what is cached; users; a week; gamma arrivals."""

import json
from typing import Any

import numpy as np
import pytest

from simcore.spec import SpecError
from simcore.traces import SyntheticSpec, Trace, generate
from simcore.traces.classes import rank_shares
from simcore.traces.lengths import LengthSpec
from simcore.traces.statistics import burstiness, percentile, spearman
from simcore.traces.trace import PS_PER_S
from simcore.traces.week import day_and_night, relative_rates

CHAT: dict[str, Any] = {
    "name": "chat",
    "share": 0.75,
    "prompt_tokens": {"percentiles": {"50": 1020, "90": 2735, "99": 4142}},
    "output_tokens": {"median": 129, "sigma": 0.9, "most": 1000},
    "correlation": 0.4,
}
RAG: dict[str, Any] = {
    "name": "rag",
    "share": 0.25,
    "prompt_tokens": {"percentiles": {"50": 8000}},
    "output_tokens": {"mean": 300, "sigma": 0.5},
    "cached_prompt_share": 0.6,
    "cache_hit_share": 0.5,
}
N = 200_000


def spec(**changes: Any) -> SyntheticSpec:
    return SyntheticSpec.from_json({"classes": [CHAT, RAG], "rate_req_per_s": 10, "requests": N} | changes)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return generate(spec())


def of(trace: Trace, name: str) -> np.ndarray:
    return np.array([one == name for one in trace.classes or ()])


def test_classes_have_their_shares_and_percentiles(trace: Trace) -> None:
    chat = of(trace, "chat")
    assert chat.mean() == pytest.approx(0.75, abs=0.004)
    prompts = trace.prompt_tokens[chat]
    for percent, tokens in ((50, 1020), (90, 2735), (99, 4142)):
        assert (prompts <= tokens).mean() == pytest.approx(percent / 100, abs=0.003)
    assert set(trace.prompt_tokens[~chat].tolist()) == {8000}


def test_a_log_normal_has_its_median_its_sigma_and_its_mean(trace: Trace) -> None:
    chat = of(trace, "chat")
    logs = np.log(trace.output_tokens[chat])
    assert percentile(trace.output_tokens[chat], 50) == pytest.approx(129, abs=2)
    assert np.diff(np.percentile(logs, [15.87, 84.13]))[0] / 2 == pytest.approx(0.9, rel=0.02)
    assert trace.output_tokens[chat].max() <= 1000
    assert trace.output_tokens[~chat].mean() == pytest.approx(300, rel=0.02)


def test_ranks_correlate_as_asked_for(trace: Trace) -> None:
    chat = of(trace, "chat")
    assert spearman(trace.prompt_tokens[chat], trace.output_tokens[chat]) == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize("correlation", [-1, -0.5, 0, 0.8, 1])
def test_tables_of_ranks_keep_both_margins(correlation: float) -> None:
    shares = rank_shares(correlation)
    assert shares.sum(axis=1) == pytest.approx(1_000_000, abs=20)
    assert shares.sum(axis=0) == pytest.approx(1_000_000, rel=0.01)


def test_cached_tokens_are_a_share_of_the_prompts_that_hit(trace: Trace) -> None:
    rag = of(trace, "rag")
    assert not trace.cached_prompt_tokens[~rag].any()
    cached = trace.cached_prompt_tokens[rag]
    assert set(cached.tolist()) == {0, 4800}
    assert (cached > 0).mean() == pytest.approx(0.5, abs=0.01)


def test_the_nth_request_is_the_same_however_many(trace: Trace) -> None:
    few = generate(spec(requests=1000, rate_req_per_s=99))
    assert few.prompt_tokens.tolist() == trace.prompt_tokens[:1000].tolist()
    assert few.output_tokens.tolist() == trace.output_tokens[:1000].tolist()
    assert few.classes == (trace.classes or ())[:1000]


@pytest.mark.parametrize("gap_cv", [0.3, 1.0, 2.5])
def test_gamma_gaps_have_their_mean_and_variation(gap_cv: float) -> None:
    trace = generate(SyntheticSpec.from_json({"mix": "coding", "arrivals": "gamma", "gap_cv": gap_cv, "requests": N}))
    assert trace.rate_per_s == pytest.approx(1, rel=0.03)
    assert burstiness(trace)["gap_cv"] == pytest.approx(gap_cv, rel=0.03)


def test_a_week_has_its_hours() -> None:
    week = day_and_night(busiest_hour=14, quietest_share=0.2, weekend_share=0.5)
    trace = generate(
        SyntheticSpec.from_json(
            {"mix": "coding", "rate_req_per_s": 0.5, "week": week, "start_hour": 0, "duration_s": 604_800}
        )
    )
    counts = np.bincount(trace.arrival_ps // (3600 * PS_PER_S), minlength=168)
    expected = 0.5 * 3600 * np.array(relative_rates(week))
    assert len(trace) == pytest.approx(302_400, rel=0.01)
    assert np.abs(counts - expected).max() < 6 * np.sqrt(expected.max())
    assert counts[14] > 4 * counts[2]
    assert counts[5 * 24 + 14] == pytest.approx(counts[14] / 2, rel=0.1)


def test_a_week_begins_in_its_busiest_hour() -> None:
    week = day_and_night(14, 0.2, 0.5)
    trace = generate(SyntheticSpec.from_json({"mix": "coding", "rate_req_per_s": 10, "week": week, "requests": 20_000}))
    assert trace.rate_per_s == pytest.approx(10 * max(relative_rates(week)), rel=0.03)


def test_hours_without_traffic_have_none() -> None:
    week = [[0.0] * 8 + [1.0] * 8 + [0.0] * 8] * 5 + [[0.0] * 24] * 2
    found = SyntheticSpec.from_json({"mix": "coding", "rate_req_per_s": 0.1, "week": week, "duration_s": 1_209_600})
    hours = generate(found).arrival_ps // (3600 * PS_PER_S) + found.first_hour
    assert {int(hour) % 24 for hour in hours} == set(range(8, 16))
    assert {int(hour) // 24 % 7 for hour in hours} == set(range(5))


def test_users_make_an_open_rate() -> None:
    found = spec(users={"users": 500, "think_time_s": 30, "response_s": 10}, rate_req_per_s=1)
    assert found.rate_req_per_s == 12.5
    assert SyntheticSpec.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_growth_changes_no_request(trace: Trace) -> None:
    grown = spec(growth_per_month=0.05)
    assert generate(grown).content_hash() == trace.content_hash()
    assert grown.to_json()["growth_per_month"] == 0.05


def chat(**changes: Any) -> dict[str, Any]:
    return {"classes": [{key: value for key, value in (CHAT | changes).items() if value is not None}, RAG]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mix": "coding"}, "synthetic.mix: give exactly one of mix and classes"),
        ({"classes": []}, "synthetic.mix: give exactly one of mix and classes"),
        (chat(share=0.5), "synthetic.classes: found shares that add up to 0.75, expected 1"),
        (chat(name="rag"), "synthetic.classes[0].name: found 'rag' twice"),
        (chat(name=" "), "synthetic.classes[0].name: found ' ', expected 1 to 40 printable"),
        (chat(mix="coding"), "synthetic.classes[0].prompt_tokens: found with mix, which has its own"),
        (chat(output_tokens=None), "synthetic.classes[0].output_tokens: missing, expected lengths"),
        (chat(correlation=1.5), "synthetic.classes[0].correlation: found 1.5, expected at most 1"),
        (chat(cached_prompt_share=-1), "synthetic.classes[0].cached_prompt_share: found -1, expected at least 0"),
        (chat(prompt_tokens={}), "prompt_tokens.percentiles: give exactly one of percentiles and sigma"),
        (chat(prompt_tokens={"sigma": 1}), "prompt_tokens.median: give exactly one of median and mean with sigma"),
        (
            chat(prompt_tokens={"percentiles": {"50": 100, "90": 50}}),
            "synthetic.classes[0].prompt_tokens.percentiles.90: found 50, expected at least 100, P50's",
        ),
        (
            chat(prompt_tokens={"percentiles": {"100": 5}}),
            "percentiles.100: found '100', expected a percentile between",
        ),
        (chat(prompt_tokens={"percentiles": {"50": 0}}), "percentiles.50: found 0, expected 1 to 10000000"),
        (chat(prompt_tokens={"percentiles": {"50": 1.5}}), "percentiles.50: found 1.5, expected a whole number"),
        (chat(prompt_tokens={"percentiles": {"50": "x"}}), "percentiles.50: found 'x', expected a whole number"),
        (chat(prompt_tokens={"percentiles": {"50": 9}, "most": 5}), "percentiles.50: found 9, expected 1 to 5"),
        ({"arrivals": "gamma"}, "synthetic.arrivals: found without gap_cv, expected 'gamma' and gap_cv together"),
        ({"gap_cv": 2}, "synthetic.arrivals: found 'poisson' with gap_cv"),
        ({"arrivals": "gamma", "gap_cv": 50}, "synthetic.gap_cv: found 50, expected at most 10"),
        ({"week": [[1] * 24] * 6}, "synthetic.week: found 6 days, expected 7"),
        ({"week": [[1] * 24] * 6 + [[1] * 23]}, "synthetic.week[6]: found 23 hours, expected 24"),
        ({"week": [[0] * 24] * 7}, "synthetic.week: found no hour with any traffic"),
        ({"week": [[-1] * 24] * 7}, "synthetic.week[0][0]: found -1, expected 0 to"),
        ({"start_hour": 5}, "synthetic.start_hour: found without week"),
        ({"users": {"users": 5, "think_time_s": 0}}, "synthetic.users.think_time_s: found 0 with a response_s of 0"),
        ({"users": {"users": 5, "think_time_s": 9}, "rate_req_per_s": 7}, "rate_req_per_s: found 7 with users"),
        ({"growth_per_month": -1}, "synthetic.growth_per_month: found -1, expected more than -1"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        SyntheticSpec.from_json({"classes": [CHAT, RAG], "rate_req_per_s": 10, "requests": 10} | changes)
    assert message in str(caught.value)


def test_a_table_of_lengths_is_exact_at_its_percentiles() -> None:
    table = LengthSpec(percentiles={"50": 13, "90": 55, "99": 250}).table
    at = dict(zip(table.tokens.tolist(), table.parts.tolist(), strict=True))
    assert (at[13], at[55], at[250]) == (500_000_000, 900_000_000, 990_000_000)
    assert (np.diff(table.tokens) > 0).all()
    assert (np.diff(table.parts) >= 0).all()
