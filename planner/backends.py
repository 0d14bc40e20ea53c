"""Where data, messages and cached values live: embedded in the data folder, or on the named servers."""

import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from planner.env import EnvError

LEAST_KEY_CHARACTERS, LEAST_KEY_VARIETY = 50, 5
"""Of a key that is given: what Django's own check (security.W009) asks for."""
KNOWN_KEYS = ("django-insecure-", "changeme", "change-me", "secret", "example")
"""How keys begin that everybody has read somewhere."""


def given_key(key: str) -> str:
    """A server's key, if it can be one: with a known key anybody makes themselves whom they like."""
    how = 'make one by: python -c "import secrets; print(secrets.token_urlsafe(64))"'
    if key.lower().startswith(KNOWN_KEYS):
        raise EnvError(f"SECRET_KEY: found a well-known one; {how}")
    if len(key) < LEAST_KEY_CHARACTERS or len(set(key)) < LEAST_KEY_VARIETY:
        raise EnvError(
            f"SECRET_KEY: found {len(key)} characters, {len(set(key))} different ones, expected at least"
            f" {LEAST_KEY_CHARACTERS} and {LEAST_KEY_VARIETY}; {how}"
        )
    return key


def secret_key(var: Path) -> str:
    """The key of this data folder, made on first use and readable by its owner alone."""
    path = var / "secret_key"
    if not path.exists():
        draft = var / f"secret_key.{os.getpid()}"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(64))
        try:
            os.link(draft, path)  # atomic, and keeps the key of whoever came first
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text(encoding="ascii")


def database(url: str, var: Path, sqlite_wait_s: int) -> dict[str, Any]:
    """Django's DATABASES entry: SQLite in the data folder, or the PostgreSQL server of the URL. ``sqlite_wait_s``: how
    long a write waits for those before it."""
    return _postgresql(url) if url else _sqlite(var, sqlite_wait_s)


def _sqlite(var: Path, wait_s: int) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": var / "phaseplan.sqlite3",
        # The last connection that is closed removes the file that readers share; on a full disk none could be made.
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # A deferred transaction that writes after it has read fails at once when another wrote.
            "transaction_mode": "IMMEDIATE",
            "timeout": wait_s,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    }


def _postgresql(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"} or not parts.path.strip("/"):
        raise EnvError("DATABASE_URL: expected postgresql://user:password@host:port/name")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": dict(parse_qsl(parts.query)),
    }


def broker(redis_url: str, var: Path) -> tuple[str, dict[str, Any]]:
    """Celery's broker URL and transport options."""
    if redis_url:
        return redis_url, {}
    queue, control = var / "queue", var / "queue-control"
    for folder in (queue, control):
        folder.mkdir(parents=True, exist_ok=True)
    return "filesystem://localhost//", {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(control),
        "polling_interval": 0.1,
    }


def cache(redis_url: str) -> dict[str, Any]:
    """Django's CACHES entry. One web process runs in the embedded mode, so its memory will do."""
    if redis_url:
        return {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": redis_url}
    return {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
