"""A model out of a pasted or uploaded config.json: shown with its checks, saved as the team's own row."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from planner.accounts.models import Membership, Role, Team, User
from planner.catalogue.models import FigureOverride
from planner.catalogue.services import model_for
from planner.scenarios.choices import Choices
from simcore.hf_config import import_model, read_config
from tests.unit.simcore.hf_config.configs import PUBLISHED, SHIPPED

NEW = "/catalogue/models/new"
TOTAL, CONFIG = PUBLISHED["Qwen3 8B"]


def post(client: Client, **fields: object) -> tuple[int, str]:
    response = client.post(NEW, {"name": "Qwen3 8B", "text": json.dumps(CONFIG), **fields})
    return response.status_code, response.content.decode()


def test_it_is_shown_before_it_is_saved(alice_client: Client, alice: User) -> None:
    status, page = post(alice_client, published=TOTAL)
    assert status == 200
    assert "<dd>8,190,735,360</dd>" in page
    assert "147,456 bytes in bf16" in page
    assert "✓ Parameters: the same as the published total." in page
    assert not FigureOverride.objects.visible_to(alice).exists()


def test_what_disagrees_is_shown_as_such(alice_client: Client) -> None:
    _, page = post(alice_client, published=8_000_000_000, text=json.dumps(SHIPPED["llama-3.1-8b"]), name="Mine")
    assert "✗ Parameters: 8,030,261,248, 0.38 % more than the published total, 8,000,000,000." in page
    assert "✓ Parameters: the same as Llama 3.1 8B in the catalogue." in page


def test_saved_it_is_the_teams_own_model_with_the_source_of_each_figure(alice_client: Client, alice: User) -> None:
    response = alice_client.post(NEW, {"name": "Qwen3 8B", "text": json.dumps(CONFIG), "save": ""})
    assert response["Location"] == "/catalogue/models/qwen3-8b"
    assert model_for(alice, "qwen3-8b") == import_model(read_config(json.dumps(CONFIG)), "Qwen3 8B").model
    assert ("qwen3-8b", "Qwen3 8B") in Choices.of(alice).models
    page = alice_client.get(response["Location"]).content.decode()
    assert "config.json (qwen3) as imported, key num_hidden_layers" in page
    assert "counted from the shapes" in page


def test_a_file_stands_for_the_text_and_stays_in_the_form(alice_client: Client) -> None:
    upload = SimpleUploadedFile("config.json", json.dumps(CONFIG).encode("utf-8-sig"))
    status, page = post(alice_client, text="", file=upload)
    assert status == 200
    assert "&quot;num_hidden_layers&quot;: 36" in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": ""}, "Found neither a file nor a text"),
        ({"text": "<html>"}, "found what is not JSON"),
        ({"text": '{"hidden_size": 64}'}, "num_attention_heads (or n_head, n_heads): missing"),
        ({"text": json.dumps(CONFIG | {"model_type": "mamba"})}, "state-space and linear layers are not modelled"),
        ({"name": "Llama-3.1-8B"}, "Found ‘llama-3.1-8b’ in the catalogue already"),
        ({"name": ""}, "This field is required"),
        ({"published": "8 billion"}, "Enter a whole number"),
        ({"file": SimpleUploadedFile("config.json", b"\xff\xfe\x00")}, "not UTF-8"),
        ({"file": SimpleUploadedFile("model.safetensors", b"0" * 4_000_001)}, "found more than 4,000,000 bytes"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_saved(
    alice_client: Client, alice: User, fields: dict[str, object], words: str
) -> None:
    status, page = post(alice_client, save="", **fields)
    assert status == 422
    assert words in page.replace("&#x27;", "'")
    assert not FigureOverride.objects.visible_to(alice).exists()


def test_a_name_is_taken_once_saved(alice_client: Client) -> None:
    alice_client.post(NEW, {"name": "Qwen3 8B", "text": json.dumps(CONFIG), "save": ""})
    status, page = post(alice_client, save="")
    assert status == 422
    assert "‘qwen3-8b’ in the catalogue already" in page


def test_others_do_not_see_it_and_a_viewer_may_not_add(alice_client: Client, team: Team, charlie: User) -> None:
    alice_client.post(NEW, {"name": "Qwen3 8B", "text": json.dumps(CONFIG), "save": ""})
    assert ("qwen3-8b", "Qwen3 8B") not in Choices.of(charlie).models
    Membership.objects.filter(user__username="alice").update(role=Role.VIEWER)
    assert alice_client.get(NEW).status_code == 403
    assert "Add a model" not in alice_client.get("/catalogue/").content.decode()
