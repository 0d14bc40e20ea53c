"""Embedded by default, servers by URL, a secret that stays."""

import stat
from pathlib import Path

import pytest

from planner import backends
from planner.env import EnvError


def test_the_secret_key_is_made_once_and_closed_to_others(tmp_path: Path) -> None:
    key = backends.secret_key(tmp_path)
    assert len(key) >= 64
    assert backends.secret_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


@pytest.mark.parametrize("key", ["short", "a" * 80, "django-insecure-" + "x7Kq" * 20, "changeme" * 10])
def test_a_key_that_anybody_could_have_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(EnvError, match="SECRET_KEY: found") as raised:
        backends.given_key(key)
    assert key not in str(raised.value)


def test_a_long_key_of_ones_own_is_taken() -> None:
    key = "kX7-9fQ2mWz4LrT8vBn3HsYd6JpGc5Ea1uKoRiNxMbVq0lPw-0"
    assert backends.given_key(key) == key


def test_a_postgresql_url_is_taken_apart() -> None:
    entry = backends.database("postgresql://me:p%40ss@db.example:5433/plans?sslmode=require", Path(), 20)
    named = {name: entry[name] for name in ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS")}
    assert named == {
        "NAME": "plans",
        "USER": "me",
        "PASSWORD": "p@ss",
        "HOST": "db.example",
        "PORT": "5433",
        "OPTIONS": {"sslmode": "require"},
    }


@pytest.mark.parametrize("url", ["mysql://db/plans", "postgresql://db.example", "plans"])
def test_another_database_is_refused_without_showing_the_url(url: str) -> None:
    with pytest.raises(EnvError, match="DATABASE_URL: expected postgresql://") as raised:
        backends.database(url, Path(), 20)
    assert url not in str(raised.value)


def test_without_servers_messages_are_files_of_the_data_folder(tmp_path: Path) -> None:
    url, options = backends.broker("", tmp_path)
    assert url.startswith("filesystem://")
    assert Path(options["data_folder_in"]).is_relative_to(tmp_path)
    assert backends.broker("redis://cache.example/0", tmp_path) == ("redis://cache.example/0", {})
