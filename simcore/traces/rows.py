"""One row at a time: the meaning of every rule, for rows that are not plain."""

import csv
from dataclasses import dataclass

from simcore.traces.format import CACHED, CLASS, LIMIT, SESSION, TableFormat
from simcore.traces.numbers import RefusalError, whole_number
from simcore.traces.report import Issue, shown
from simcore.traces.trace import CONTROL_CHARACTER, MAX_TOKENS

LONGEST_TEXT = 200


@dataclass(frozen=True)
class Row:
    """A row's values; arrival in the format's unit."""

    arrival: int
    prompt_tokens: int
    output_tokens: int
    cached_prompt_tokens: int = 0
    max_output_tokens: int = 0
    request_class: str = ""
    session: str = ""


@dataclass(frozen=True)
class RowResult:
    """A row and its repairs, or the one issue that it is refused for."""

    row: Row | None
    issues: list[Issue]


class RowReader:
    """Reads the lines of one table, whose header is known."""

    def __init__(self, table: TableFormat, header: list[str]) -> None:
        self.table, self.header = table, header
        self.reads = {column for column in table.optional if column in header}

    def read(self, line: int, data: bytes) -> RowResult:
        """Reads the bytes of one line, without its line end."""
        reading = _Reading(line)
        try:
            fields = dict(zip(self.header, _fields(data, len(self.header)), strict=True))
            return RowResult(self._row(fields, reading), reading.repairs)
        except RefusalError as refusal:
            issue = Issue(refusal.kind, line, reading.field, refusal.found, refusal.expected, "row refused")
            return RowResult(None, [issue])

    def _row(self, fields: dict[str, str], reading: "_Reading") -> Row:
        table = self.table
        arrival = table.arrival.one(reading.stripped(table.arrival.header, fields))
        prompt = reading.tokens(table.prompt, fields)
        output = reading.tokens(table.output, fields)
        return Row(
            arrival,
            prompt,
            output,
            reading.cached(fields, prompt) if CACHED in self.reads else 0,
            reading.limit(fields, output) if LIMIT in self.reads else 0,
            reading.text(CLASS, fields) if CLASS in self.reads else "",
            reading.text(SESSION, fields) if SESSION in self.reads else "",
        )


def _fields(data: bytes, count: int) -> list[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusalError("not UTF-8", f"byte 0x{data[error.start]:02x}", "UTF-8 text") from None
    if not text.strip():
        raise RefusalError("empty line", "an empty line", f"{count} fields")
    try:
        fields = next(csv.reader([text], strict=True))
    except csv.Error as error:
        raise RefusalError("broken quoting", str(error), "fields separated by commas") from None
    if len(fields) != count:
        kind = "too few fields" if len(fields) < count else "too many fields"
        raise RefusalError(kind, str(len(fields)), f"{count} fields")
    return fields


class _Reading:
    """The reading of one line: the field that is being read, and what was repaired so far."""

    def __init__(self, line: int) -> None:
        self.line, self.field = line, ""
        self.repairs: list[Issue] = []

    def repaired(self, kind: str, found: str, expected: str, action: str) -> None:
        self.repairs.append(Issue(kind, self.line, self.field, found, expected, action))

    def stripped(self, field: str, fields: dict[str, str]) -> str:
        self.field = field
        raw = fields[field]
        text = raw.strip()
        if text != raw:
            self.repaired("spaces around a value", shown(raw), "no spaces", "spaces removed")
        return text

    def tokens(self, field: str, fields: dict[str, str], least: int = 1, note: str = "") -> int:
        text = self.stripped(field, fields)
        value = whole_number(text, least, MAX_TOKENS, f"a whole number from {least} to {MAX_TOKENS}{note}")
        if not text.isdigit():
            self.repaired("whole number written as a decimal", shown(text), "digits", f"read as {value}")
        return value

    def optional_tokens(self, field: str, fields: dict[str, str]) -> int:
        text = self.stripped(field, fields)
        return self.tokens(field, {field: text}, 0, " or nothing") if text else 0

    def cached(self, fields: dict[str, str], prompt: int) -> int:
        value = self.optional_tokens(CACHED, fields)
        expected = f"fewer than prompt_tokens, {prompt}"
        if value > prompt:
            raise RefusalError("more cached than prompt", str(value), expected)
        if value == prompt:
            action = f"read as {prompt - 1}: the last prompt token is always computed"
            self.repaired("whole prompt cached", str(value), expected, action)
        return min(value, prompt - 1)

    def limit(self, fields: dict[str, str], output: int) -> int:
        value = self.optional_tokens(LIMIT, fields)
        if 0 < value < output:
            raise RefusalError("limit below output", str(value), f"0, nothing, or output_tokens, {output}, or more")
        return value

    def text(self, field: str, fields: dict[str, str]) -> str:
        self.field, text = field, fields[field]
        if len(text) > LONGEST_TEXT or CONTROL_CHARACTER.search(text):
            raise RefusalError("unusable text", shown(text), f"at most {LONGEST_TEXT} printable characters")
        return text
