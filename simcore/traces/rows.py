"""One row at a time: the meaning of every rule, for rows that are not plain."""

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simcore.traces.format import CACHED, CLASS, LIMIT, SESSION, TableFormat
from simcore.traces.numbers import RefusalError, whole_number
from simcore.traces.report import Issue, shown
from simcore.traces.trace import CONTROL_CHARACTER, MAX_TOKENS

LONGEST_TEXT = 200
DECIMAL_COMMA = re.compile(r"\d+,\d+", re.ASCII)
THOUSANDS = re.compile(r"\d{1,3}([,.])\d{3}(\1\d{3})*", re.ASCII)


class Written(str):
    """A number's text in JSON, where text in quotes is another thing; in a table all is text."""

    __slots__ = ()


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

    def __init__(self, table: TableFormat, header: list[str], delimiter: str = ",") -> None:
        self.table, self.header, self.delimiter = table, header, delimiter
        self.reads = table.reads(header)

    def read(self, line: int, data: bytes) -> RowResult:
        """Reads the bytes of one line, without its line end."""
        return self.read_fields(line, lambda reading: self._fields(data, reading))

    def read_fields(self, line: int, fields: Callable[["_Reading"], Mapping[str, str]]) -> RowResult:
        """Reads one request's fields, which may be refused or repaired themselves."""
        reading = _Reading(line, self.table.layout != "table", "" if self.delimiter == "," else ",")
        try:
            return RowResult(self._row(fields(reading), reading), reading.repairs)
        except RefusalError as refusal:
            field = refusal.field or reading.field
            return RowResult(None, [Issue(refusal.kind, line, field, refusal.found, refusal.expected, "row refused")])

    def _fields(self, data: bytes, reading: "_Reading") -> Mapping[str, str]:
        count = len(self.header)
        fields = _split(data, count, self.delimiter)
        if len(fields) == count + 1 and not fields[-1].strip():
            reading.repaired(
                "delimiter at the end", str(len(fields)), f"{count} fields", "the last, empty one left out"
            )
            fields.pop()
        if len(fields) != count:
            kind = "too few fields" if len(fields) < count else "too many fields"
            raise RefusalError(kind, str(len(fields)), f"{count} fields")
        if [field.strip() for field in fields] == self.header:
            raise RefusalError("repeated header", "the header again", "a row")
        return dict(zip(self.header, fields, strict=True))

    def _row(self, fields: Mapping[str, str], reading: "_Reading") -> Row:
        table, reads = self.table, self.reads
        arrival = table.arrival.one(reading.arrival(table.arrival.header, fields))
        if table.failed:
            reading.check_failed(table.output, fields, table.failed)
        prompt = reading.tokens(table.prompt, fields)
        output = reading.tokens(table.output, fields)
        return Row(
            arrival,
            prompt,
            output,
            reading.cached(reads[CACHED], fields, prompt) if CACHED in reads else 0,
            reading.limit(reads[LIMIT], fields, output) if LIMIT in reads else 0,
            reading.text(reads[CLASS], fields) if CLASS in reads else "",
            reading.text(reads[SESSION], fields) if SESSION in reads else "",
        )


def _split(data: bytes, count: int, delimiter: str) -> list[str]:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusalError("not UTF-8", f"byte 0x{data[error.start]:02x}", "UTF-8 text") from None
    if not text.strip():
        raise RefusalError("empty line", "an empty line", f"{count} fields")
    try:
        return next(csv.reader([text], strict=True, delimiter=delimiter))
    except csv.Error as error:
        raise RefusalError("broken quoting", str(error), f"fields separated by {delimiter!r}") from None


class _Reading:
    """The reading of one line: the field that is being read, and what was repaired so far."""

    def __init__(self, line: int, in_json: bool, decimal_mark: str) -> None:
        self.line, self.field, self.in_json, self.decimal_mark = line, "", in_json, decimal_mark
        self.repairs: list[Issue] = []

    def repaired(self, kind: str, found: str, expected: str, action: str) -> None:
        self.repairs.append(Issue(kind, self.line, self.field, found, expected, action))

    def arrival(self, field: str, fields: Mapping[str, str]) -> str:
        """Its text, with a point where a comma is the decimal mark."""
        text = self.stripped(field, fields)
        if self.decimal_mark and DECIMAL_COMMA.fullmatch(text):
            whole = text.replace(",", ".")
            self.repaired("decimal comma", shown(text), "a decimal point", f"read as {whole}")
            return whole
        return text

    def check_failed(self, field: str, fields: Mapping[str, str], what: str) -> None:
        """RefusalError where no output token says that the request failed."""
        self.field = field
        if fields[field].strip() == "0":
            raise RefusalError("failed request", "0", what)

    def stripped(self, field: str, fields: Mapping[str, str]) -> str:
        self.field = field
        raw = fields[field]
        text = raw.strip()
        if self.in_json and not isinstance(raw, Written):
            self.repaired("number written as text", shown(raw), "a number without quotes", "read as a number")
        if text != raw:
            self.repaired("spaces around a value", shown(raw), "no spaces", "spaces removed")
        return text

    def tokens(self, field: str, fields: Mapping[str, str], least: int = 1, note: str = "") -> int:
        text = self.ungrouped(self.stripped(field, fields))
        value = whole_number(text, least, MAX_TOKENS, f"a whole number from {least} to {MAX_TOKENS}{note}")
        if not text.isdigit():
            self.repaired("whole number written as a decimal", shown(text), "digits", f"read as {value}")
        return value

    def ungrouped(self, text: str) -> str:
        """Without commas between thousands, where fields are separated by commas: elsewhere they may be decimal marks,
        and points may be either."""
        grouped = THOUSANDS.fullmatch(text)
        if self.in_json or grouped is None or (not self.decimal_mark and grouped[1] == "."):
            return text
        if self.decimal_mark:
            raise RefusalError("ambiguous number", shown(text), "digits alone: thousands or decimals?")
        whole = text.replace(",", "")
        self.repaired("thousands separators", shown(text), "digits alone", f"read as {whole}")
        return whole

    def optional_tokens(self, field: str, fields: Mapping[str, str]) -> int:
        text = self.stripped(field, fields)
        return self.tokens(field, {field: text}, 0, " or nothing") if text else 0

    def cached(self, field: str, fields: Mapping[str, str], prompt: int) -> int:
        value = self.optional_tokens(field, fields)
        expected = f"fewer than prompt_tokens, {prompt}"
        if value > prompt:
            raise RefusalError("more cached than prompt", str(value), expected)
        if value == prompt:
            action = f"read as {prompt - 1}: the last prompt token is always computed"
            self.repaired("whole prompt cached", str(value), expected, action)
        return min(value, prompt - 1)

    def limit(self, field: str, fields: Mapping[str, str], output: int) -> int:
        value = self.optional_tokens(field, fields)
        if 0 < value < output:
            raise RefusalError("limit below output", str(value), f"0, nothing, or output_tokens, {output}, or more")
        return value

    def text(self, field: str, fields: Mapping[str, str]) -> str:
        self.field, text = field, fields[field]
        if len(text) > LONGEST_TEXT or CONTROL_CHARACTER.search(text):
            raise RefusalError("unusable text", shown(text), f"at most {LONGEST_TEXT} printable characters")
        return text
