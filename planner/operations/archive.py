"""The file that a backup is: a gzip'ed tar of ``manifest.json``, a file of lines for each table, and uploaded files.

The manifest comes first and has the SHA-256 of every other member, so that a torn or changed archive is refused before
anything is touched. No time and no owner is written: the same rows make the same bytes, but for the manifest's date.
"""

import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Any, cast

FORMAT = 1
MANIFEST = "manifest.json"
PIECE = 1 << 20
LEVEL = 3


class ArchiveError(ValueError):
    """The file is not a whole archive; the message says what is wrong and where."""


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What an archive holds, and of which version."""

    created_at: str
    """ISO 8601, UTC."""
    engine_version: str
    database: str
    """postgresql or sqlite: where the rows are from."""
    migrations: dict[str, str]
    """App → its last migration."""
    tables: dict[str, Table]
    left_out: list[str]
    """Tables that were not written, on purpose."""
    files: dict[str, str] = field(default_factory=dict)
    """Path below the folder of uploaded files → SHA-256."""
    format: int = FORMAT


def member_of(table: str) -> str:
    return f"rows/{table}.jsonl"


@dataclass(frozen=True)
class Written:
    """The lines of a table on disk, until the archive is put together."""

    path: Path
    table: Table


def write_lines(folder: Path, name: str, columns: list[str], lines: Generator[str]) -> Written:
    path, rows, digest = folder / name, 0, hashlib.sha256()
    with closing(lines), path.open("wb") as out:  # a cursor left open would outlive its connection
        for line in lines:
            data = line.encode() + b"\n"
            digest.update(data)
            out.write(data)
            rows += 1
    return Written(path, Table(columns, rows, digest.hexdigest()))


def write(target: Path, manifest: Manifest, written: Mapping[str, Written], files: Path) -> None:
    """Puts the archive together next to its place and moves it there: there is a whole one or none."""
    draft = target.with_name(f".{target.name}.part")
    try:
        with tarfile.open(draft, "w:gz", compresslevel=LEVEL, format=tarfile.PAX_FORMAT) as tar:
            content = json.dumps(asdict(manifest), indent=1).encode()
            _add(tar, MANIFEST, io.BytesIO(content), len(content))
            for name, one in written.items():
                with one.path.open("rb") as data:
                    _add(tar, member_of(name), data, one.path.stat().st_size)
            for name in manifest.files:
                with (files / name).open("rb") as data:
                    _add(tar, f"files/{name}", data, (files / name).stat().st_size)
        draft.chmod(0o600)
        draft.replace(target)
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()


def _add(tar: tarfile.TarFile, name: str, data: Any, size: int) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o600
    tar.addfile(info, data)


@dataclass(frozen=True)
class Archive:
    """An archive whose every member was read and has the sum that the manifest says."""

    manifest: Manifest
    folder: Path

    def lines(self, table: str) -> Iterator[str]:
        with (self.folder / member_of(table)).open(encoding="utf-8", newline="\n") as data:
            for line in data:
                yield line.removesuffix("\n")

    def file(self, name: str) -> Path:
        return self.folder / "files" / name


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """Unpacked into a folder of its own beside the archive's, checked; ArchiveError where it is not whole."""
    with TemporaryDirectory(prefix="phaseplan-restore-", dir=path.parent) as folder:
        try:
            manifest = _unpacked(path, Path(folder))
        except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
            raise ArchiveError(f"{path.name}: cannot be read to its end ({error})") from error
        yield Archive(manifest, Path(folder))


def _unpacked(path: Path, folder: Path) -> Manifest:
    with tarfile.open(path, "r:gz") as tar:
        first = tar.next()
        if first is None or first.name != MANIFEST:
            found = "nothing" if first is None else repr(first.name)
            raise ArchiveError(f"{path.name}: found {found} first, expected {MANIFEST}: not a backup of Phaseplan")
        manifest = _manifest(path, tar.extractfile(first))
        expected = {member_of(name): table.sha256 for name, table in manifest.tables.items()}
        expected |= {f"files/{name}": digest for name, digest in manifest.files.items()}
        while (member := tar.next()) is not None:
            digest = expected.pop(member.name, None)
            if digest is None or not member.isfile():
                raise ArchiveError(f"{path.name}: found {member.name!r}, which its manifest does not name")
            if _extracted(tar, member, folder) != digest:
                raise ArchiveError(f"{path.name}: {member.name} was changed or torn: its SHA-256 is not the manifest's")
    if expected:
        raise ArchiveError(f"{path.name}: {next(iter(expected))} is missing")
    return manifest


def _extracted(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> str:
    """The sum of what was written. The names are those of a manifest that has been checked."""
    target = folder / member.name
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with cast(IO[bytes], tar.extractfile(member)) as source, target.open("wb") as out:
        while piece := source.read(PIECE):
            digest.update(piece)
            out.write(piece)
    return digest.hexdigest()


def _manifest(path: Path, data: Any) -> Manifest:
    try:
        found = json.load(data)
        if found.get("format") != FORMAT:
            raise ArchiveError(f"{path.name}: found format {found.get('format')!r}, expected {FORMAT}")
        tables = {name: Table(**table) for name, table in found.pop("tables").items()}
        manifest = Manifest(tables=tables, **found)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, ArchiveError):
            raise
        raise ArchiveError(f"{path.name}: its {MANIFEST} cannot be read ({error})") from error
    for name in [*map(member_of, manifest.tables), *manifest.files]:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ArchiveError(f"{path.name}: found {name!r}, a path that leads out of the archive")
    return manifest


def sum_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as data:
        while piece := data.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
