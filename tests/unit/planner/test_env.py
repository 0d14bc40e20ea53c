"""Settings from the environment, and from files for secrets."""

from pathlib import Path

import pytest

from planner import env


def test_a_value_may_lie_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    monkeypatch.setenv("SOME_KEY_FILE", str(tmp_path / "key"))
    assert env.envstr("SOME_KEY") == "secret"
    monkeypatch.setenv("SOME_KEY", "nearer")
    assert env.envstr("SOME_KEY") == "nearer"


def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY_FILE", "/nowhere/key")
    with pytest.raises(env.EnvError, match=r"SOME_KEY_FILE=/nowhere/key: cannot be read"):
        env.envstr("SOME_KEY")


@pytest.mark.parametrize(("text", "value"), [("1", True), ("Yes", True), ("off", False), ("", True)])
def test_booleans(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("SOME_FLAG", text)
    assert env.envbool("SOME_FLAG", True) is value


def test_what_is_no_boolean_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_FLAG", "maybe")
    with pytest.raises(env.EnvError, match="SOME_FLAG=maybe: expected true or false"):
        env.envbool("SOME_FLAG", False)


@pytest.mark.parametrize(("text", "expected"), [("four", "a whole number"), ("0", "1 or more")])
def test_numbers_out_of_range(monkeypatch: pytest.MonkeyPatch, text: str, expected: str) -> None:
    monkeypatch.setenv("SOME_NUMBER", text)
    with pytest.raises(env.EnvError, match=expected):
        env.envint("SOME_NUMBER", 3, minimum=1)


def test_lists_are_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_LIST", "a.example, b.example,")
    assert env.envlist("SOME_LIST") == ["a.example", "b.example"]
