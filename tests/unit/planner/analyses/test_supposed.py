"""Sections of an answer where something is supposed: of that question, or they say of which one they are."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.analyses.models import Analysis
from planner.analyses.page import section
from planner.studies.models import Study

HTMX = {"HTTP_HX_REQUEST": "true"}
FASTER = {"rate": "1"}
CHEAPER = {"usd.dgx-h100": "10"}


@pytest.fixture
def study(answered: Callable[..., Study]) -> Study:
    return answered()


def shown(client: Client, study: Study, kind: str, query: dict[str, str]) -> str:
    return unescape(client.get(f"/studies/{study.pk}/analyses/{kind}/", query, **HTMX).content.decode())  # type: ignore[arg-type]


def test_what_is_told_at_once_is_told_of_what_is_supposed(alice_client: Client, study: Study) -> None:
    as_asked, cheaper = (section(study, "growth", {}, query).told for query in ({}, CHEAPER))
    assert as_asked != cheaper
    page = shown(alice_client, study, "growth", CHEAPER)
    assert "What if DGX H100" in page
    assert "What if" not in shown(alice_client, study, "growth", {})


def test_what_was_simulated_for_the_question_says_so_and_may_be_asked_of_what_is_supposed(
    alice_client: Client, study: Study, work: Callable[[], None], django_capture_on_commit_callbacks: Any
) -> None:
    def ask(**supposed: str) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            alice_client.post(f"/studies/{study.pk}/analyses/token_budget/", supposed, **HTMX)  # type: ignore[arg-type]
        work()

    ask()
    page = shown(alice_client, study, "token_budget", FASTER)
    assert "of the question as it was asked, not of what is supposed (1 requests/s)" in page
    assert "Work it out for what is supposed" in page
    ask(**FASTER)
    assert Analysis.objects.count() == 2
    page = shown(alice_client, study, "token_budget", FASTER)
    assert "What if 1 requests/s:" in page
    assert "as it was asked" not in page


def test_prices_alone_need_no_other_simulation(
    alice_client: Client, study: Study, work: Callable[[], None], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        alice_client.post(f"/studies/{study.pk}/analyses/token_budget/", {}, **HTMX)  # type: ignore[arg-type]
    work()
    assert "What if DGX H100" in shown(alice_client, study, "token_budget", CHEAPER)


def test_other_latency_limits_are_said_not_to_count(alice_client: Client, study: Study) -> None:
    assert "By the latency limits as they were asked." in shown(alice_client, study, "growth", {"slo": "2"})


def test_a_line_of_the_list_says_what_is_done(alice_client: Client, study: Study) -> None:
    page = alice_client.get(f"/studies/{study.pk}/").content.decode()
    lines = page.partition('<nav class="contents"')[2].partition("</nav>")[0].split("</li>")
    done = {line.partition('id="index-')[2].partition('"')[0] for line in lines if "✓" in line}
    assert {"flip_points", "growth"} <= done
    assert "token_budget" not in done
