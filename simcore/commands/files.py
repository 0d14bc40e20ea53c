"""Files that commands read and write: whole or not at all, and one line of error."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simcore.spec import Case, SpecError, decode_case
from simcore.traces import Trace, read_trace
from simcore.traces.report import Findings

LONGEST_NUMBER = 19
"""Digits of a whole number: more are beyond the simulation's 64-bit clock."""
LARGEST_JSON_BYTES = 64 << 20
TOO_DEEP = "found JSON nested too deeply, expected at most some hundred levels"


def read_json(path: str) -> Any:
    """A JSON file's value; SpecError names the file, and line and column where it is not JSON."""
    try:
        if Path(path).is_file() and Path(path).stat().st_size > LARGEST_JSON_BYTES:
            raise SpecError(f"{path}: found more than {LARGEST_JSON_BYTES >> 20} MiB, expected a small JSON file")
        text = Path(path).read_text(encoding="utf-8-sig")
        return json.loads(text, parse_int=_whole, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except OSError as error:
        raise SpecError(f"{path}: found {_why(error)}, expected a readable JSON file") from None
    except UnicodeDecodeError as error:
        raise SpecError(
            f"{path}: found byte 0x{error.object[error.start]:02x} at {error.start}, expected UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise SpecError(f"{path}: line {error.lineno}, column {error.colno}: {error.msg}, expected JSON") from None
    except RecursionError:
        raise SpecError(f"{path}: {TOO_DEEP}") from None
    except SpecError as error:
        raise SpecError(f"{path}: {error}" if not str(error).startswith(path) else str(error)) from None


def read_case(path: str) -> Case:
    """CASE.json; SpecError names file and key."""
    with naming(path):
        return decode_case(read_json(path))


def read_requests(path: str) -> tuple[Trace, list[str]]:
    """A trace, and what was refused or repaired in it as lines of ``warnings``. TraceError."""
    trace, report = read_trace(path)
    name = path.encode("utf-8", "replace").decode()  # a file's name may be no text, a warning is
    found = []
    if report.refused_rows:
        found.append(
            f"{name}: {report.refused_rows:,} of {report.rows_read:,} rows cannot be used and were left out:"
            f" {_counted(report.refused)}"
        )
    if report.repaired.total:
        found.append(f"{name}: repaired: {_counted(report.repaired)}")
    found += [f"{name}: {doubt}" for doubt in report.doubts]
    return trace, found


def _counted(findings: Findings) -> str:
    """How many of each kind, and the first of all."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(findings.counts.items()))
    return f"{kinds} (first: {findings.listed[0]})"


@contextmanager
def naming(path: str) -> Iterator[None]:
    """A SpecError raised inside, or a number beyond the clock's range, says which file it is about."""
    try:
        yield
    except SpecError as error:
        text = str(error)
        raise SpecError(text if text.startswith(f"{path}:") else f"{path}: {text}") from None
    except OverflowError as error:
        raise SpecError(f"{path}: found numbers too large to simulate ({error}), expected smaller ones") from None
    except RecursionError:
        raise SpecError(f"{path}: {TOO_DEEP}") from None


def check_writable(path: str | None) -> None:
    """SpecError where a result could not be written to ``path``: better before a long run than after it."""
    if path is None:
        return
    target = Path(path)
    if target.is_dir():
        raise SpecError(f"{path}: found a folder, expected a file to write")
    if target.exists() and not os.access(target, os.W_OK):
        raise SpecError(f"{path}: found a file that cannot be written, expected a writable path")
    if not target.parent.is_dir():
        raise SpecError(f"{path}: found no folder {target.parent}, expected a path in an existing one")
    if _replaceable(target) and not os.access(target.parent, os.W_OK):
        raise SpecError(f"{path}: found a folder that cannot be written, expected a writable path")


def check_apart(results: Sequence[str | None], sources: Sequence[str]) -> None:
    """SpecError where two results would go to one file, or one over what it is made from. Devices take any number."""
    seen = [os.path.realpath(source) for source in sources]
    for path in results:
        place = path and os.path.realpath(path)
        if not place or (os.path.exists(place) and not os.path.isfile(place)):
            continue
        if place in seen:
            raise SpecError(f"{path}: found it twice on the command line, expected a file of its own for each result")
        seen.append(place)


def write_lines(path: str, lines: Iterable[str]) -> None:
    """Write lines, LF at the end of each: to a temporary file beside it, renamed when whole. SpecError if it cannot
    be."""
    target = Path(path)
    part = target.with_name(f".{target.name}.{os.getpid()}.part") if _replaceable(target) else target
    try:
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(f"{line}\n" for line in lines)
        if part != target:
            part.replace(target)
    except OSError as error:
        raise SpecError(f"{path}: found {_why(error)}, expected a writable path") from None
    finally:
        if part != target:
            part.unlink(missing_ok=True)


def write_json(path: str | None, value: Any) -> None:
    """An object as JSON with full precision: to a file, or to standard output where no path is given."""
    text = json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False)
    if path is None:
        print(text)
    else:
        write_lines(path, [text])


def _replaceable(target: Path) -> bool:
    """Whether a rename may put a new file there: not over a device, a pipe or a link."""
    return not target.is_symlink() and (target.is_file() or not target.exists())


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > LONGEST_NUMBER:
        raise SpecError(f"found a whole number of {len(text)} digits, expected at most {LONGEST_NUMBER}")
    return int(text)


def _refuse_constant(text: str) -> float:
    raise SpecError(f"found {text}, expected a finite number")


def _check_text(text: str) -> None:
    """Half a character could be read but not written; a zero byte is in no file's name."""
    if "\0" in text:
        raise SpecError(f"found {ascii(text)[:60]}, expected text without a zero byte")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise SpecError(f"found {ascii(text)[:60]}, expected text with whole characters (a lone surrogate is none)")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        _check_text(key)
        if isinstance(value, str):
            _check_text(value)
        if key in result:
            raise SpecError(f"{key}: found twice in one object, expected it once")
        result[key] = value
    return result
