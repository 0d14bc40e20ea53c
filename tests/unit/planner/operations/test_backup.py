"""``manage.py backup`` and ``restore`` as an operator runs them: from SQLite to PostgreSQL and back, and from an older
version."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from tests.services import ROOT, clean_environment

OLDER = ROOT / "tests" / "data" / "installation-2026-12-01.tar.gz"
"""An installation of 2026-12-01, at the migrations of that day: a team, a token, a workload, an answered study with its
costs, a link."""
Manage = Callable[..., "subprocess.CompletedProcess[str]"]


def rows_in(path: Path) -> dict[str, bytes]:
    """Member → content, but for the manifest."""
    with tarfile.open(path) as tar:
        found = {member.name: tar.extractfile(member) for member in tar.getmembers()}
        return {name: data.read() for name, data in found.items() if data is not None and name != "manifest.json"}


def parsed(rows: dict[str, bytes]) -> dict[str, list[object]]:
    """PostgreSQL keeps the keys of JSON in an order of its own."""
    return {name: [json.loads(line) for line in lines.splitlines()] for name, lines in rows.items()}


def manifest_of(path: Path) -> dict[str, object]:
    with tarfile.open(path) as tar:
        data = tar.extractfile("manifest.json")
        assert data is not None
        found: dict[str, object] = json.load(data)
        return found


def same(value: object) -> object:
    """Money of another scale is the same money."""
    digits = isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value)
    return Decimal(str(value)).normalize() if digits else value


def done(run: "subprocess.CompletedProcess[str]") -> str:
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout


def refused(run: "subprocess.CompletedProcess[str]") -> str:
    assert run.returncode == 1
    assert "Traceback" not in run.stderr
    return run.stderr


def test_an_older_installation_is_restored_and_nothing_of_it_is_lost(tmp_path: Path, manage: Manage) -> None:
    said = done(manage("restore", OLDER))
    assert "Restored 766 rows and 0 files of 2026-12-01T01:09" in said
    done(manage("backup", tmp_path / "again.tar.gz", "--without-store"))
    before, after = rows_in(OLDER), rows_in(tmp_path / "again.tar.gz")
    tables = manifest_of(OLDER)["tables"]
    assert isinstance(tables, dict)
    for name, table in tables.items():
        if name.startswith(("auth.", "contenttypes.")):  # later versions have more kinds of rows
            continue
        kept = [json.loads(line) for line in before[f"rows/{name}.jsonl"].splitlines()]
        found = [json.loads(line) for line in after[f"rows/{name}.jsonl"].splitlines()]
        columns = manifest_of(tmp_path / "again.tar.gz")["tables"][name]["columns"]  # type: ignore[index]
        places = [columns.index(column) for column in table["columns"] if column in columns]
        was = [table["columns"].index(column) for column in table["columns"] if column in columns]
        assert [[same(row[place]) for place in places] for row in found] == [
            [same(row[place]) for place in was] for row in kept
        ], name
    done(manage("check", "--database", "default"))
    assert "No changes" in done(manage("makemigrations", "--check", "--dry-run"))


def test_sqlite_to_postgresql_and_back_is_the_same_rows(tmp_path: Path, manage: Manage, postgresql_url: str) -> None:
    done(manage("restore", OLDER))
    done(manage("backup", tmp_path / "sqlite.tar.gz"))
    server = {"DATABASE_URL": postgresql_url, "REDIS_URL": "redis://127.0.0.1:1/0"}
    done(manage("restore", tmp_path / "sqlite.tar.gz", "--replace", var="two", **server))
    done(manage("backup", tmp_path / "postgresql.tar.gz", var="two", **server))
    done(manage("restore", tmp_path / "postgresql.tar.gz", var="three"))
    done(manage("backup", tmp_path / "back.tar.gz", var="three"))
    first, on_server, last = (rows_in(tmp_path / f"{n}.tar.gz") for n in ("sqlite", "postgresql", "back"))
    assert parsed(first) == parsed(on_server) == parsed(last)
    assert manifest_of(tmp_path / "postgresql.tar.gz")["database"] == "postgresql"
    # New rows get ids of their own: the sequences stand behind what was loaded.
    made = "from planner.accounts.models import Team; print(Team.objects.create(name='new').pk)"
    assert int(done(manage("shell", "-v0", "-c", made, var="two", **server)).split()[-1]) > 1
    assert "neither changed nor removed" in manage("shell", "-v0", "-c", EMPTIED, var="two", **server).stderr
    assert "neither changed nor removed" in manage("shell", "-v0", "-c", EMPTIED, var="three").stderr
    done(manage("backup", tmp_path / "history.tar.gz", var="two", **server))
    done(manage("restore", tmp_path / "history.tar.gz", "--replace", var="three"))
    (kept,) = rows_in(tmp_path / "history.tar.gz")["rows/accounts.auditentry.jsonl"].splitlines()
    assert b'"kept"' in kept


EMPTIED = """
from django.db import connection, transaction
from planner.accounts import audit
from planner.accounts.models import AuditEntry, Team
with transaction.atomic():
    audit.record(Team.objects.first(), None, "kept", Team.objects.first())
connection.cursor().execute("DELETE FROM accounts_auditentry")
"""


def test_what_is_there_is_not_given_up_unasked(tmp_path: Path, manage: Manage) -> None:
    done(manage("restore", OLDER))
    assert "holds an installation; --replace gives it up" in refused(manage("restore", OLDER))
    said = done(manage("restore", OLDER, "--replace"))
    kept = Path(said.split("What was there before is kept: ")[1].splitlines()[0])
    assert kept.exists()
    assert "is there already" in refused(manage("backup", OLDER))


@pytest.mark.parametrize("change", ["cut", "changed", "added", "newer", "text"])
def test_an_archive_that_is_not_whole_touches_nothing(tmp_path: Path, manage: Manage, change: str) -> None:
    done(manage("restore", OLDER))
    before = (tmp_path / "one" / "phaseplan.sqlite3").read_bytes()
    bad = tmp_path / "bad.tar.gz"
    words = DAMAGES[change](bad)
    assert words in refused(manage("restore", bad, "--replace"))
    assert (tmp_path / "one" / "phaseplan.sqlite3").read_bytes() == before
    assert not list((tmp_path / "one").glob(".*restoring*"))
    assert not list(tmp_path.glob("phaseplan-restore-*"))


def _cut(bad: Path) -> str:
    bad.write_bytes(OLDER.read_bytes()[:20_000])
    return "cannot be read to its end"


def _text(bad: Path) -> str:
    bad.write_text("not an archive")
    return "cannot be read to its end"


def _rewritten(bad: Path, change: Callable[[str, bytes], bytes], more: dict[str, bytes]) -> None:
    import io

    with tarfile.open(OLDER) as old, tarfile.open(bad, "w:gz") as new:
        members = {m.name: (old.extractfile(m) or io.BytesIO()).read() for m in old.getmembers()}
        for name, content in (members | more).items():
            info, data = tarfile.TarInfo(name), change(name, content)
            info.size = len(data)
            new.addfile(info, io.BytesIO(data))


def _changed(bad: Path) -> str:
    _rewritten(bad, lambda name, data: data.replace(b"alice", b"mallo") if "accounts.user." in name else data, {})
    return "accounts.user.jsonl was changed or torn"


def _added(bad: Path) -> str:
    _rewritten(bad, lambda _, data: data, {"../../evil": b"x"})
    return "found '../../evil', which its manifest does not name"


def _newer(bad: Path) -> str:
    _rewritten(bad, lambda n, d: d.replace(b'"0001_links"', b'"0999_more"') if n == "manifest.json" else d, {})
    return "migrations unknown here (sharing.0999_more)"


DAMAGES = {"cut": _cut, "changed": _changed, "added": _added, "newer": _newer, "text": _text}


def test_a_disk_without_room_leaves_no_half_archive(tmp_path: Path, manage: Manage) -> None:
    """A file-size limit stands in for a full disk: writing beyond it fails with the same kind of error."""
    done(manage("restore", OLDER))
    limited = subprocess.run(
        ["bash", "-c", f'trap "" XFSZ; ulimit -f 40; exec "{sys.executable}" manage.py backup "{tmp_path}/b.tar.gz"'],
        cwd=ROOT,
        env=clean_environment() | {"PHASEPLAN_VAR": str(tmp_path / "one"), "PHASEPLAN_LOCAL": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "nothing was kept of it" in refused(limited)
    assert not [path for path in tmp_path.iterdir() if "tar.gz" in path.name or "phaseplan-backup" in path.name]


def test_a_running_installation_is_not_replaced(tmp_path: Path, manage: Manage) -> None:
    done(manage("restore", OLDER))
    hold = (
        "from pathlib import Path; from planner.launcher.locks import FileLock; import sys;"
        f"lock = FileLock(Path({str(tmp_path / 'one' / 'worker.lock')!r})); lock.take(); lock.write('4711');"
        "print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert "process 4711 uses" in refused(manage("restore", OLDER, "--replace"))
        done(manage("backup", tmp_path / "meanwhile.tar.gz"))
        holder.communicate("")
    shutil.rmtree(tmp_path / "one")
