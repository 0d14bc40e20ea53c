"""docker-compose.yml and the Dockerfile without a container engine: what they say of each service, and its commands
with their environment as processes against a real Redis and a real PostgreSQL, so that they cannot rot."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from tests.services import (
    ROOT,
    clean_environment,
    ended,
    free_port,
    listens,
    program,
    share_engine_cache,
    until,
)

SECRETS = {
    "POSTGRES_PASSWORD": "pgpassword",
    "REDIS_PASSWORD": "redispassword",
    "SECRET_KEY": "kX7-9fQ2mWz4LrT8vBn3HsYd6JpGc5Ea1uKoRiNxMbVq0lPw-kX7-9fQ2",
    "PHASEPLAN_HOSTS": "plan.example",
}
HOST = {"Host": "plan.example", "X-Forwarded-Proto": "https"}
STUDY_S = 300
Json = dict[str, Any]


def filled(value: Any) -> Any:
    """With ``${NAME:?}`` and ``${NAME:-default}`` as compose fills them."""
    if isinstance(value, dict):
        return {name: filled(one) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one) for one in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\$\{(\w+):(\?|-([^}]*))\}", _named, value)


def _named(match: "re.Match[str]") -> str:
    name, default = match[1], match[3]
    if name in SECRETS:
        return SECRETS[name]
    assert default is not None, f"{name} has no default, and no line says that it must be given"
    return default


@pytest.fixture(scope="module")
def compose() -> Json:
    found: Json = filled(yaml.safe_load((ROOT / "docker-compose.yml").read_text()))
    return found


@pytest.fixture(scope="module")
def image() -> dict[str, Any]:
    """Of the Dockerfile: ``CMD``, ``USER``, ``ENV``."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    found: dict[str, Any] = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in lines if line[:1].isupper()}
    found["CMD"] = json.loads(found["CMD"])
    found["ENV"] = dict(pair.split("=", 1) for pair in shlex.split(found["ENV"]))
    return found


def test_each_service_is_hardened_and_watched(compose: Json, image: dict[str, Any]) -> None:
    services = compose["services"]
    assert set(services) == {"prepare", "web", "worker", "database", "broker"}
    assert image["USER"] not in ("root", "0")
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service["volumes"], name
        assert name == "prepare" or service["healthcheck"]["test"][0] == "CMD", name
    for name in ("prepare", "web", "worker"):
        assert services[name]["cap_drop"] == ["ALL"]
        assert services[name]["volumes"] == [f"planner-data:{image['ENV']['PHASEPLAN_VAR']}"]
    assert [name for name, service in services.items() if "ports" in service] == ["web"]
    assert services["web"]["ports"] == ["127.0.0.1:8000:8000"]
    used = {volume.split(":")[0] for service in services.values() for volume in service["volumes"]}
    assert used == set(compose["volumes"])


def test_what_the_image_copies_is_there(image: dict[str, Any]) -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    assert copied
    for name in (name for names in copied for name in names.split()):
        assert (ROOT / name).exists(), name


@dataclass
class Deployment:
    """The services as processes."""

    url: str
    environment: dict[str, str]
    folder: Path
    services: Json
    before: set[str]
    """The image's files before anything ran."""

    def run(self, command: list[str]) -> str:
        """A command of a service that ends by itself."""
        done = subprocess.run(
            own(command), cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def get(self, address: str) -> tuple[int, str]:
        request = urllib.request.Request(f"{self.url}{address}", headers=HOST)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()


def own(command: list[str]) -> list[str]:
    """Programs of the image as those of this environment."""
    name, *rest = command
    return [sys.executable, *rest] if name == "python" else [sys.executable, "-m", name, *rest]


@contextlib.contextmanager
def started(command: list[str], log: Path, environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            own(command), cwd=ROOT, env=environment, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def broker(compose: Json, folder: Path) -> Iterator[int]:
    name, *options = shlex.split(compose["services"]["broker"]["command"])
    port = free_port()
    command = [program(name), *options, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    with ended(subprocess.Popen(command, stdout=subprocess.DEVNULL)) as server:
        until(lambda: listens(port), server)
        yield port


@pytest.fixture(scope="module")
def deployment(
    compose: Json, image: dict[str, Any], postgresql_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Deployment]:
    folder, web_port = tmp_path_factory.mktemp("compose"), free_port()
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS phaseplan WITH (FORCE)")
        connection.execute("CREATE DATABASE phaseplan")
    server = postgresql_url.split("@")[1].split("/")[0]
    services = compose["services"]
    assert services["web"]["environment"] == services["worker"]["environment"] == services["prepare"]["environment"]
    with broker(compose, folder) as redis_port:
        asked = {name: str(value) for name, value in services["web"]["environment"].items()}
        asked["DATABASE_URL"] = asked["DATABASE_URL"].replace("database:5432", server)
        asked["REDIS_URL"] = asked["REDIS_URL"].replace("broker:6379", f"127.0.0.1:{redis_port}")
        var = folder / "data"
        share_engine_cache(var)
        environment = clean_environment() | image["ENV"] | asked | {"PHASEPLAN_VAR": str(var)}
        environment["DJANGO_SETTINGS_MODULE"] = "planner.settings"
        made = Deployment(f"http://127.0.0.1:{web_port}", environment, folder, services, image_files())
        (folder / "prepare.log").write_text(made.run(shlex.split(services["prepare"]["command"])))
        web = [part.replace("0.0.0.0:8000", f"127.0.0.1:{web_port}") for part in image["CMD"]]
        worker = shlex.split(services["worker"]["command"])
        with contextlib.ExitStack() as running:
            for number in (1, 2):
                running.enter_context(started(worker, folder / f"worker-{number}.log", environment))
            process = running.enter_context(started(web, folder / "web.log", environment))
            until(lambda: listens(web_port), process, (folder / "web.log").read_text)
            check = [part.replace("8000", str(web_port)) for part in services["web"]["healthcheck"]["test"][1:]]
            made.run(check)
            yield made


def test_a_person_can_come_in_and_a_study_is_answered_by_two_workers(deployment: Deployment) -> None:
    assert "chooses a password within a day at" in (deployment.folder / "prepare.log").read_text()
    assert deployment.get("/accounts/sign-in/")[0] == 200
    ready = json.loads(deployment.get("/readyz")[1])
    assert ready == {"ready": True, "database": "reachable", "waiting_migrations": [], "broker": "reachable"}
    deployment.run(["python", "-m", "tests.faults.small_study", "list"])
    with psycopg.connect(deployment.environment["DATABASE_URL"], autocommit=True) as rows:

        def state() -> str:
            return str(rows.execute("SELECT state FROM studies_study ORDER BY id DESC LIMIT 1").fetchone()[0])  # type: ignore[index]

        logs = (deployment.folder / "worker-1.log").read_text
        until(lambda: state() not in ("queued", "running"), said=logs, wait_s=STUDY_S)
        assert state() == "done"
    health = deployment.services["worker"]["healthcheck"]["test"][1:]
    assert deployment.run(health).count(":") == 2
    doctor = subprocess.run(
        [sys.executable, "manage.py", "doctor", "--json"],
        cwd=ROOT,
        env=deployment.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    problems = [one for one in json.loads(doctor.stdout) if one["level"] == "problem"]
    assert problems == []


def test_what_is_logged_is_json(deployment: Deployment) -> None:
    with contextlib.suppress(urllib.error.HTTPError):
        deployment.get("/no/such/address")
    lines = [line for line in (deployment.folder / "web.log").read_text().splitlines() if "Not Found" in line]
    assert lines
    assert json.loads(lines[0])["logger"] == "django.request"


def test_nothing_is_written_outside_the_data_folder(deployment: Deployment) -> None:
    """The image's root is read-only: what the processes above wrote is below the data folder."""
    assert image_files() == deployment.before


def image_files() -> set[str]:
    """What the image has of this project, but for what Python makes of it (the image's environment forbids that)."""
    folders = [ROOT / name for name in ("planner", "simcore", "static", "templates")]
    found = [path for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts]
    return {str(path.relative_to(ROOT)) for path in [*found, *ROOT.iterdir()] if not path.name.startswith(".")}
