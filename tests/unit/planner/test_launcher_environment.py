"""What the launcher tells the web server and the worker."""

from pathlib import Path

import pytest

from planner.launcher.__main__ import _processes, environment_of, main
from planner.launcher.address import Address


@pytest.mark.parametrize(
    ("host", "sign_in", "own", "local"),
    [
        ("127.0.0.1", "", "127.0.0.1", "1"),
        ("127.0.0.2", "", "127.0.0.2", "1"),
        ("::1", "", "[::1]", "1"),
        ("127.0.0.1", "true", "127.0.0.1", "0"),
        ("192.168.1.5", "true", "192.168.1.5", "0"),
        ("0.0.0.0", "true", "127.0.0.1", "0"),  # noqa: S104
    ],
)
def test_the_address_listened_on_is_a_host_of_its_own(
    host: str, sign_in: str, own: str, local: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the launcher's own question whether the web server is there is refused, and a start waits for ever."""
    monkeypatch.setenv("PHASEPLAN_HOSTS", "plan.example.org")
    monkeypatch.setenv("PHASEPLAN_SIGN_IN", sign_in)
    environment = environment_of(Address(host, 8000), tmp_path)
    assert environment["PHASEPLAN_HOSTS"].split(",") == ["plan.example.org", own]
    assert environment["PHASEPLAN_LOCAL"] == local


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "2001:db8::1"])  # noqa: S104
@pytest.mark.parametrize("asked", ["", "1"])
def test_a_single_user_is_served_on_loopback_alone(
    host: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the environment says of the mode itself."""
    monkeypatch.setenv("PHASEPLAN_LOCAL", asked)
    monkeypatch.setenv("PHASEPLAN_BIND", host)
    monkeypatch.setenv("PHASEPLAN_VAR", str(tmp_path))
    monkeypatch.delenv("PHASEPLAN_SIGN_IN", raising=False)
    monkeypatch.setattr("sys.argv", ["launcher"])
    assert main() == 1
    said = capsys.readouterr().err
    assert f"PHASEPLAN_BIND={host}" in said
    assert "PHASEPLAN_SIGN_IN=true" in said


def test_the_worker_has_a_process_for_each_core_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PHASEPLAN_PROCESSES", raising=False)
    monkeypatch.setattr("planner.launcher.__main__.sys.platform", "linux")
    monkeypatch.setattr("planner.launcher.__main__.os.sched_getaffinity", lambda pid: {0, 3, 5})
    assert _processes() == 3
    monkeypatch.setenv("PHASEPLAN_PROCESSES", "7")
    assert _processes() == 7
