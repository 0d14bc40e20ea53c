"""The page's words, tables and charts, from traces worked out by hand."""

import csv
import io
import json
import re

import pytest
from django.test import Client

from planner.accounts.models import Team, User
from planner.workloads.models import Workload
from planner.workloads.page import workload_page
from planner.workloads.services import save_upload
from planner.workloads.summary import MOST_BINS, arrivals, histogram_edges, lengths
from simcore.traces import ParseReport, Trace, generate, read_trace
from simcore.traces.synthetic import SyntheticSpec

S = 10**12


@pytest.fixture
def burst(team: Team, alice: User) -> Workload:
    trace = Trace.of("t", [0, 0, 0], [5, 6, 7], [1, 2, 3])
    return save_upload(team, alice, "burst", "burst.csv", trace, ParseReport("phaseplan", 3, 3))


def test_arrivals_are_counted_in_bins_and_none_is_lost() -> None:
    trace = Trace.of("t", [int(t * S) for t in (5, 5.05, 5.15, 5.35, 6)], [1] * 5, [1] * 5)
    found = arrivals(trace)
    assert found["bin_s"] == 0.1
    assert sum(found["requests"]) == 5
    assert found["requests"][:4] == [2, 1, 0, 1]
    assert found["rate_req_per_s"][:4] == pytest.approx([20, 10, 0, 10])


def test_a_few_requests_make_a_few_bins() -> None:
    found = arrivals(Trace.of("t", [0, 2 * S, 6 * S, 8 * S], [1] * 4, [1] * 4))
    assert found["bin_s"] == 1
    assert found["requests"] == [1, 0, 1, 0, 0, 0, 1, 1]


def test_even_arrivals_have_one_rate() -> None:
    found = arrivals(Trace.of("t", [n * S for n in range(420)], [1] * 420, [1] * 420))
    assert set(found["rate_req_per_s"]) == {1.0}
    assert sum(found["requests"]) == 420


@pytest.mark.parametrize("rate", [0.01, 3, 1000])
def test_bins_are_few_and_their_rates_add_up(rate: float) -> None:
    trace = generate(SyntheticSpec("coding", rate, 2000))
    found = arrivals(trace)
    assert len(found["requests"]) <= MOST_BINS
    assert sum(found["requests"]) == 2000
    assert all(value is not None and value >= 0 for value in found["rate_req_per_s"])


def test_lengths_are_values_of_the_data() -> None:
    found = lengths(Trace.of("t", range(1000), range(1, 1001), [1] * 1000).prompt_tokens, histogram_edges(1000))
    assert sum(found["histogram"]["requests"]) == 1000
    assert found["histogram"]["edges"][-1] > 1000
    assert found["percentiles"]["0"] == 1
    assert found["percentiles"]["50"] == 500
    assert found["percentiles"]["99.9"] == 999
    assert (found["curve"]["tokens"][-1], found["curve"]["share"][-1]) == (1000, 1.0)
    assert all(share == tokens / 1000 for tokens, share in zip(*found["curve"].values(), strict=True))


def test_requests_at_one_instant_have_no_rate(burst: Workload) -> None:
    page = workload_page(burst)
    assert page.lines[0] == "3 requests, all at one instant: they have no rate of their own."
    assert page.charts[0].rows == [["0", "3", "–"]]


def test_the_page_of_a_burst_renders(burst: Workload, alice_client: Client) -> None:
    assert alice_client.get(f"/workloads/{burst.pk}").status_code == 200


def test_words_of_the_conversation_mix(alice_client: Client) -> None:
    page = alice_client.get(f"/workloads/{Workload.of_mix('conversation').pk}").content.decode()
    assert "50,000 requests in 2 h 29 min: 5.56 requests/s on average." in page
    assert "Prompts have 1,150 tokens on average, 1,019 at the median, 4,140 at P99" in page
    assert "The rank correlation of the two is +0.08." in page
    assert "(a Poisson process has 1)" in page


def test_every_chart_has_its_figure_and_its_table(alice_client: Client) -> None:
    page = alice_client.get(f"/workloads/{Workload.of_mix('coding').pk}").content.decode()
    figures = re.findall(r'<script id="(\w+)-figure" type="application/json">(.*?)</script>', page)
    assert [name for name, _ in figures] == ["arrivals", "lengths", "histogram"]
    for name, text in figures:
        assert f'data-chart="{name}-figure"' in page
        data = json.loads(text)["data"]
        assert all(len(trace["x"]) == len(trace["y"]) > 10 for trace in data)
    assert page.count("<details") == 3
    assert '<td class="number">P99.9</td>' in page


def test_the_download_reads_back_the_same(alice_client: Client) -> None:
    mix = Workload.of_mix("coding")
    response = alice_client.get(f"/workloads/{mix.pk}/trace.csv")
    data = b"".join(response.streaming_content)
    assert response["Content-Disposition"] == f'attachment; filename="workload-{mix.pk}.csv"'
    assert read_trace(io.BytesIO(data))[0].content_hash() == mix.content_hash
    assert next(csv.reader([data.decode().partition("\n")[0]])) == ["arrival_s", "prompt_tokens", "output_tokens"]


def test_the_api_tells_what_the_page_tells(alice_client: Client) -> None:
    mix = Workload.of_mix("coding")
    told = alice_client.get(f"/api/v1/workloads/{mix.pk}").json()
    assert told["statistics"] == mix.summary["statistics"]
    assert told["spec"]["mix"] == "coding"
    assert (told["shipped"], told["report"]) == (True, None)
