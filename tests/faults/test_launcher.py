"""`make run` as a person meets it: starts, stops, is started twice, is killed."""

import contextlib
import json
import os
import signal
import socket
import sqlite3
import urllib.request
from pathlib import Path

from tests.services import Planner, free_port, running_planner, start_planner, until


def groups(planner: Planner) -> list[int]:
    return json.loads((planner.var / "launcher.lock").read_text())["groups"]


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and that nobody has waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def refusal(planner: Planner) -> str:
    assert planner.process.wait(timeout=30) == 1
    assert "Traceback" not in planner.output
    return planner.output


def worker_is_alive(planner: Planner) -> bool:
    with urllib.request.urlopen(f"{planner.url}healthz", timeout=5) as answer:
        return json.load(answer)["worker"]["alive"]


def test_a_second_one_on_the_same_folder_is_refused_with_the_address_of_the_first(tmp_path: Path) -> None:
    with running_planner(tmp_path) as first:
        said = refusal(start_planner(tmp_path))
        assert first.url in said
        assert str(first.process.pid) in said
        assert "PHASEPLAN_VAR" in said


def test_a_taken_port_is_named_before_anything_is_prepared(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = refusal(start_planner(tmp_path, port))
    assert f"port {port} is taken" in said
    assert "preparing" not in said


def test_sigterm_and_ctrl_c_stop_everything_and_a_start_follows(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with running_planner(tmp_path) as planner:
            children = groups(planner)
            planner.process.send_signal(number)
            assert planner.process.wait(timeout=30) == 0
            assert "stopped" in planner.output
            assert [alive(group) for group in children] == [False, False]


def test_a_start_after_kill_9_ends_what_is_left_and_takes_the_same_port(tmp_path: Path) -> None:
    port = free_port()
    with running_planner(tmp_path, port) as first:
        children = groups(first)
        first.process.kill()
        with running_planner(tmp_path, port) as second:
            assert [alive(group) for group in children] == [False, False]
            until(lambda: worker_is_alive(second), said=lambda: second.output)


def test_a_stubborn_leftover_of_a_killed_run_is_ended_too(tmp_path: Path) -> None:
    with running_planner(tmp_path) as first:
        worker = groups(first)[1]
        os.killpg(worker, signal.SIGSTOP)  # it cannot hear the kernel's SIGTERM
        first.process.kill()
        with running_planner(tmp_path):
            assert not alive(worker)


def test_a_dead_worker_is_started_again(tmp_path: Path) -> None:
    with running_planner(tmp_path) as planner:
        until(lambda: worker_is_alive(planner), said=lambda: planner.output)
        worker = groups(planner)[1]
        os.killpg(worker, signal.SIGKILL)
        until(lambda: len(groups(planner)) == 2 and groups(planner)[1] != worker, said=lambda: planner.output)
        assert "the worker ended" in planner.output
        until(lambda: "engine ready" in planner.output.partition("starting it again")[2], said=lambda: planner.output)


def test_one_worker_works_on_as_many_shards_at_once_as_it_has_processes(tmp_path: Path) -> None:
    with running_planner(tmp_path, PHASEPLAN_PROCESSES="2") as planner:
        until(lambda: shards_at_work(planner) == 2, said=lambda: planner.output)  # of the example, asked at a start


def shards_at_work(planner: Planner) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{planner.var / 'phaseplan.sqlite3'}?mode=ro", uri=True)) as rows:
        return rows.execute("SELECT count(*) FROM studies_shard WHERE state = 'running'").fetchone()[0]


def test_a_dead_web_server_stops_it_all_with_a_message(tmp_path: Path) -> None:
    with running_planner(tmp_path) as planner:
        web, worker = groups(planner)
        os.killpg(web, signal.SIGKILL)
        assert "the web server ended" in refusal(planner)
        assert not alive(worker)
