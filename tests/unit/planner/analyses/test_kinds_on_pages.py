"""Kinds with a form to fill in, and with a map: what the page offers and shows."""

from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.test import Client

from planner.studies.models import Study

HTMX = {"HTTP_HX_REQUEST": "true"}
MINE = {"family": "sarathi:dgx-h100", "machines": "3", "token_budget": "512"}


@pytest.fixture
def study(answered: Callable[..., Study]) -> Study:
    return answered(families=["sarathi:dgx-h100", "splitwise:dgx-h100+dgx-h100"], prefill_counts="1", decode_counts="1")


@pytest.fixture
def ask(work: Callable[[], None], django_capture_on_commit_callbacks: Any) -> Callable[..., str]:
    """Presses a button, has it done, and reads the section."""

    def asked(client: Client, study: Study, kind: str, given: dict[str, str]) -> str:
        address = f"/studies/{study.pk}/analyses/{kind}/"
        with django_capture_on_commit_callbacks(execute=True):
            client.post(address, given, **HTMX)  # type: ignore[arg-type]
        work()
        return unescape(client.get(address, given, **HTMX).content.decode())  # type: ignore[arg-type]

    return asked


def test_a_design_is_typed_in_and_told(alice_client: Client, study: Study, ask: Callable[..., str]) -> None:
    address = f"/studies/{study.pk}/analyses/why_not_mine/"
    blank = unescape(alice_client.get(address, **HTMX).content.decode())  # type: ignore[arg-type]
    assert '<option value="splitwise:dgx-h100+dgx-h100"' in blank
    assert "missing" not in blank
    told = ask(alice_client, study, "why_not_mine", MINE)
    assert "Sarathi on 3 DGX H100, 512-token budget" in told
    assert "Limits at 2 requests/s" in told
    assert 'value="3"' in told
    wrong = ask(alice_client, study, "why_not_mine", {"family": "sarathi:dgx-h100"})
    assert "machines: missing" in wrong
    assert "<select" in wrong


def test_where_splitting_pays_is_a_map_with_its_table(
    alice_client: Client, study: Study, ask: Callable[..., str]
) -> None:
    told = ask(alice_client, study, "where_splitting_pays", {"multipliers": "1, 4", "outputs": "1"})
    assert '<svg class="heat-map"' in told
    assert told.count('<g class="cell') == 2
    assert "As you ask, " in told
    assert "The designs compared" in told


def test_the_neighbourhood_is_there_before_it_is_asked_for(alice_client: Client, study: Study) -> None:
    closed = unescape(alice_client.get(f"/studies/{study.pk}/").content.decode())
    assert "Around Sarathi on " in closed
    assert "Requests/s held around " not in closed
    page = unescape(alice_client.get(f"/studies/{study.pk}/?open=neighbourhood").content.decode())
    assert "Requests/s held around " in page
    assert '<g class="cell' in page
