"""A request that no page can read."""

from django.test import Client


def test_too_many_fields_are_answered_in_words(alice_client: Client) -> None:
    response = alice_client.post("/", {f"field{number}": "" for number in range(1001)})
    assert response.status_code == 400
    assert "larger than a form can be" in response.content.decode()
