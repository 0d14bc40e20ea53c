"""Settings from environment variables. NAME_FILE, a path, may hold the value of NAME (for secrets)."""

import os
from pathlib import Path


class EnvError(ValueError):
    """A variable's value is not what the setting expects."""


def envstr(name: str, default: str = "") -> str:
    """The value of NAME, or the content of the file that NAME_FILE names; empty counts as unset."""
    if value := os.environ.get(name, ""):
        return value
    path = os.environ.get(f"{name}_FILE", "")
    if not path:
        return default
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise EnvError(f"{name}_FILE={path}: cannot be read ({error.strerror})") from error


def envbool(name: str, default: bool) -> bool:
    value = envstr(name).lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    if value:
        raise EnvError(f"{name}={value}: expected true or false")
    return default


def envint(name: str, default: int, minimum: int = 0) -> int:
    value = envstr(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError as error:
        raise EnvError(f"{name}={value}: expected a whole number") from error
    if number < minimum:
        raise EnvError(f"{name}={value}: expected {minimum} or more")
    return number


def envlist(name: str) -> list[str]:
    return [item.strip() for item in envstr(name).split(",") if item.strip()]
