"""A page that is looked at again asks nothing of simcore anew; a study that has gone on is asked again."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client

from planner.analyses.asking import ask
from planner.studies.models import Study
from simcore.analyses import KINDS
from simcore.spec import SpecError


def test_the_same_answer_is_prepared_once(answered: Callable[..., Study], monkeypatch: pytest.MonkeyPatch) -> None:
    study, asked_of = answered(), []
    kind = KINDS["growth"]

    def noted(*args: object) -> object:
        asked_of.append(args)
        return kind.task(*args)  # type: ignore[arg-type]

    monkeypatch.setitem(KINDS, "growth", replace(kind, task=noted))
    first, again = ask(study, "growth", {}), ask(study, "growth", {})
    assert len(asked_of) == 1
    assert first.told is again.told
    assert ask(study, "growth", {"months": 3}).told != first.told
    study.designs.all().delete()
    with pytest.raises(SpecError, match="nothing to grow from"):
        ask(study, "growth", {})


def test_a_section_that_cannot_be_told_leaves_the_page_be(
    answered: Callable[..., Study], alice_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("months")

    study = answered()
    monkeypatch.setitem(KINDS, "growth", replace(KINDS["growth"], told=broken))
    page = alice_client.get(f"/studies/{study.pk}/").content.decode()
    assert "It cannot be told (KeyError)" in page
    assert "Token budget" in page
