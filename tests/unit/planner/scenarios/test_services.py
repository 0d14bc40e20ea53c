"""Scenarios and their revisions."""

import pytest
from django.core.exceptions import PermissionDenied

from planner.accounts.models import Membership, Role, Team, User
from planner.scenarios.errors import FieldErrors
from planner.scenarios.models import Revision, Scenario
from planner.scenarios.services import create_scenario, save_revision
from tests.unit.planner.scenarios.conftest import Inputs


def test_a_question_belongs_to_its_askers_team(
    alice: User, bob: User, charlie: User, team: Team, typed: Inputs
) -> None:
    revision = create_scenario(alice, typed)
    assert (revision.number, revision.created_by, revision.scenario.team) == (1, alice, team)
    assert revision.scenario.name == "BLOOM 176B, A little chat, 70 requests/s"
    assert list(Scenario.objects.visible_to(bob)) == [revision.scenario]
    assert not Scenario.objects.visible_to(charlie).exists()


def test_the_name_of_a_question_tells_it_from_others_like_it(alice: User, typed: Inputs) -> None:
    revision = create_scenario(alice, typed | {"rate_req_per_s": "1234", "power_limit_kw": "0.4 MW"})
    assert revision.scenario.name == "BLOOM 176B, A little chat, 1,234 requests/s within 400 kW"


def test_each_revision_is_called_by_its_own_figures(alice: User, typed: Inputs) -> None:
    first = create_scenario(alice, typed)
    second = save_revision(alice, first.scenario, typed | {"rate_req_per_s": "85"})
    assert first.title == "BLOOM 176B, A little chat, 70 requests/s"
    assert second.title == "BLOOM 176B, A little chat, 85 requests/s"


def test_a_name_that_was_given_stays(alice: User, typed: Inputs) -> None:
    first = create_scenario(alice, typed, "Chat of the spring")
    second = save_revision(alice, first.scenario, typed | {"rate_req_per_s": "85"})
    assert (first.title, second.title) == ("Chat of the spring", "Chat of the spring")


def test_bad_input_saves_nothing(alice: User, typed: Inputs) -> None:
    with pytest.raises(FieldErrors):
        create_scenario(alice, typed | {"rate_req_per_s": "0"})
    assert not Scenario.unscoped.exists()


def test_each_save_is_a_revision_and_an_unchanged_one_is_not(alice: User, bob: User, typed: Inputs) -> None:
    first = create_scenario(alice, typed)
    second = save_revision(bob, first.scenario, typed | {"rate_req_per_s": "85"})
    assert (second.number, second.created_by) == (2, bob)
    assert save_revision(alice, first.scenario, typed | {"rate_req_per_s": "85 req/s"}) == second
    assert first.scenario.latest == second
    assert Revision.objects.get(pk=first.pk).inputs["rate_req_per_s"] == 70.0


def test_strangers_and_viewers_change_nothing(alice: User, charlie: User, team: Team, typed: Inputs) -> None:
    first = create_scenario(alice, typed)
    dora = User.objects.create_user("dora")
    Membership.objects.create(team=team, user=dora, role=Role.VIEWER)
    for user in (charlie, dora):
        with pytest.raises(PermissionDenied):
            save_revision(user, first.scenario, typed | {"rate_req_per_s": "1"})
    with pytest.raises(PermissionDenied):
        create_scenario(dora, typed)
    assert Revision.objects.count() == 1
