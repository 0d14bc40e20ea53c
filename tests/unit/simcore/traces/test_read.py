"""Reading: exact times, repairs that are counted, blocks and single rows that agree."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.traces import ParseReport, Trace, TraceError, read_trace, write_trace
from simcore.traces.azure import AZURE, many_timestamps, one_timestamp
from simcore.traces.collected import Rows
from simcore.traces.digits import seconds_as_ps as many_seconds
from simcore.traces.format import TableFormat
from simcore.traces.lines import Block, blocks
from simcore.traces.numbers import RefusalError
from simcore.traces.numbers import seconds_as_ps as one_second
from simcore.traces.phaseplan import PHASEPLAN
from simcore.traces.rows import RowReader
from simcore.traces.table import TableReader

HEADER = b"arrival_s,prompt_tokens,output_tokens\n"


def read(data: bytes) -> tuple[Trace, ParseReport]:
    return read_trace(io.BytesIO(data), "t.csv")


def test_azure_conversation_trace_as_published(shared_data: Path) -> None:
    trace, report = read_trace(shared_data / "traces" / "azure_conv_2023.csv")
    assert (report.format, report.rows_read, report.accepted) == ("azure", 19366, 19366)
    assert report.refused.total == report.repaired.total == 0
    assert trace.name == "azure_conv_2023.csv"
    # 18:15:46.6805900 to 19:14:08.4025270
    assert int(trace.arrival_ps[-1]) == 3501_721_937_000_000
    assert trace.prompt_tokens[:3].tolist() == [374, 396, 879]
    assert trace.output_tokens[-1] == 183
    assert round(float(trace.prompt_tokens.mean())) == 1155


def test_azure_coding_trace_as_published(shared_data: Path) -> None:
    trace, report = read_trace(shared_data / "traces" / "azure_code_2023.csv")
    assert report.accepted == len(trace) == 8819
    assert int(trace.prompt_tokens.max()) == 7437


def test_the_seventh_fractional_digit_counts() -> None:
    rows = b"2023-11-16 18:15:46.6805901,374,44\r\n2023-11-16 18:15:46.6805908,396,109"
    trace, _ = read(b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n" + rows)
    assert trace.arrival_ps.tolist() == [0, 700_000]


def test_timestamps_of_other_shapes_mean_the_same() -> None:
    rows = [b"2023-11-16 18:15:46", b"2023-11-16T18:15:46.5Z", b"2023-11-16 19:15:47.25+01:00"]
    body = b"".join(row + b",1,1\n" for row in rows)
    trace, _ = read(b"TIMESTAMP,ContextTokens,GeneratedTokens\n" + body)
    assert trace.arrival_ps.tolist() == [0, 500_000_000_000, 1_250_000_000_000]


def test_own_format_keeps_arrivals_and_optional_columns() -> None:
    trace, report = read(
        b"session,arrival_s,output_tokens,prompt_tokens,class,cached_prompt_tokens,max_output_tokens\n"
        b"s1,0.5,3,10,chat,4,\n"
        b'"s,2",1e-3,1,10,,,7\n'
    )
    assert trace.arrival_ps.tolist() == [1_000_000_000, 500_000_000_000]
    assert trace.sessions == ("s,2", "s1")
    assert trace.classes == ("", "chat")
    assert trace.cached_prompt_tokens.tolist() == [0, 4]
    assert trace.max_output_tokens.tolist() == [7, 0]
    assert report.repaired.counts == {"arrival out of order": 1}


def test_unsorted_times_are_sorted_stably_and_counted() -> None:
    trace, report = read(HEADER + b"3,1,1\n1,2,1\n3,3,1\n2,4,1\n4,5,1\n")
    assert trace.prompt_tokens.tolist() == [2, 4, 1, 3, 5]
    assert report.repaired.counts == {"arrival out of order": 2}
    assert [(issue.line, issue.found) for issue in report.repaired.listed] == [
        (3, "an arrival 2 s before a row above it"),
        (5, "an arrival 1 s before a row above it"),
    ]
    assert (report.repaired_rows, report.accepted) == (2, 5)


def test_unsorted_times_beyond_the_list_are_still_counted() -> None:
    rows = b"".join(f"{second},1,1\n".encode() for second in range(500, 0, -1))
    trace, report = read(HEADER + rows)
    assert report.repaired.counts == {"arrival out of order": 499}
    assert len(report.repaired.listed) == 100
    assert trace.arrival_ps[0] == 10**12


def test_repairs_name_what_was_done() -> None:
    data = b"\xef\xbb\xbfarrival_s, prompt_tokens,output_tokens,note\n 1 ,20.0,3,a\n2,2e1,3,b\n"
    trace, report = read(data)
    assert trace.prompt_tokens.tolist() == [20, 20]
    assert report.repaired.counts == {
        "byte order mark": 1,
        "spaces in the header": 1,
        "unused column": 1,
        "spaces around a value": 1,
        "whole number written as a decimal": 2,
    }
    assert report.repaired_rows == 2
    assert str(report.repaired.listed[-1]) == ("line 3, prompt_tokens: found '2e1', expected digits: read as 20")


def test_a_wholly_cached_prompt_still_computes_its_last_token() -> None:
    trace, report = read(b"arrival_s,prompt_tokens,output_tokens,cached_prompt_tokens\n1,10,2,10\n")
    assert trace.cached_prompt_tokens.tolist() == [9]
    assert report.repaired.counts == {"whole prompt cached": 1}


def test_report_is_json(shared_data: Path) -> None:
    _, report = read(HEADER + b"1,1,1\n1,x,1\n")
    as_json = report.to_json()
    assert as_json["refused"]["listed"][0] == {
        "kind": "not a number",
        "line": 3,
        "field": "prompt_tokens",
        "found": "'x'",
        "expected": "a whole number from 1 to 10000000",
        "action": "row refused",
    }
    assert (as_json["rows_read"], as_json["accepted"], as_json["refused_rows"]) == (2, 1, 1)


@given(st.decimals(min_value=0, max_value=5_400_000, places=15))
def test_seconds_are_exact_to_the_picosecond(seconds: object) -> None:
    text = f"{seconds:f}"
    expected = round(Fraction(text) * 10**12)
    data = text.encode()
    values, good = many_seconds(np.frombuffer(data, np.uint8), np.array([0]), np.array([len(data)]))
    assert good.all()
    assert values.tolist() == [expected] == [one_second(text)]


@given(st.text("0123456789.-+:eE TZ_", max_size=30))
def test_whatever_the_fast_readers_accept_the_single_reader_reads_alike(text: str) -> None:
    data = text.encode() + b"\n"
    for many, one in ((many_seconds, one_second), (many_timestamps, one_timestamp)):
        values, good = many(np.frombuffer(data, np.uint8), np.array([0]), np.array([len(data) - 1]))
        if good[0] and values[0] <= 5_400_000 * 10**12:
            assert one(text) == values[0]
        elif good[0]:
            with pytest.raises(RefusalError):
                one(text)


@given(st.integers(0, 9_000_000_000), st.integers(0, 9))
def test_timestamps_are_exact_to_the_nanosecond(second: int, decimals: int) -> None:
    moment = datetime.fromtimestamp(second, UTC)
    text = f"{moment:%Y-%m-%d %H:%M:%S}" + (".123456789"[: decimals + 1] if decimals else "")
    data = text.encode()
    values, good = many_timestamps(np.frombuffer(data, np.uint8), np.array([0]), np.array([len(data)]))
    assert good[0]
    assert values[0] == one_timestamp(text)
    assert values[0] // 10**9 == second
    assert values[0] % 10**9 == int("123456789"[:decimals].ljust(9, "0"))


CELLS = st.one_of(
    st.integers(-1, 50).map(str),
    st.sampled_from(["", " 7", "1.5", "12.0", "1e1", "nan", "x", '"8"', '"', "é", "0.25", "3.1234567890125", "-1"]),
)
ROWS = st.lists(st.lists(CELLS, min_size=2, max_size=4).map(",".join), min_size=1, max_size=12)


@given(ROWS, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 40))
def test_blocks_and_single_rows_give_the_same_result(rows: list[str], end: str, ended: bool, size: int) -> None:
    body = (end.join(rows) + (end if ended else "")).encode()
    assert outcome(PHASEPLAN, body, size, single=False) == outcome(PHASEPLAN, body, size, single=True)


@given(st.lists(st.sampled_from(["2023-11-16 18:15:46.68,5,6", "2023-11-16 18:15:46,5,6", "?,1,1", ""])))
def test_blocks_and_single_rows_agree_on_timestamps(rows: list[str]) -> None:
    body = "\n".join(rows).encode()
    assert outcome(AZURE, body, 64, single=False) == outcome(AZURE, body, 64, single=True)


def outcome(table: TableFormat, body: bytes, size: int, single: bool) -> object:
    report = ParseReport(table.id)
    reader = (SingleRows if single else TableReader)("t", table, list(table.required), report)
    lines = (Block(block.data, block.first_line + 1) for block in blocks(io.BytesIO(body), "t", size))
    try:
        trace = reader.read(lines, None)
    except TraceError as error:
        return str(error), report.to_json()
    return trace.content_hash(), report.to_json()


class SingleRows(TableReader):
    """The same table with every line left to the reader of single rows."""

    def _rows(self, block: Block) -> Rows:
        rows = super()._rows(block)
        spans = {column: (starts[:0], ends[:0]) for column, (starts, ends) in rows.spans.items()}
        return replace(rows, plain=np.zeros_like(rows.plain), spans=spans)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    size = draw(st.integers(1, 8))

    def column(elements: st.SearchStrategy[int]) -> list[int]:
        return draw(st.lists(elements, min_size=size, max_size=size))

    prompts, outputs = column(st.integers(1, 10**7)), column(st.integers(1, 10**6))
    return Trace.of(
        "t",
        sorted(column(st.integers(0, 5_400_000 * 10**12))),
        prompts,
        outputs,
        [min(c, p - 1) for c, p in zip(column(st.integers(0, 10**7)), prompts, strict=True)],
        [m and m + o for m, o in zip(column(st.integers(0, 100)), outputs, strict=True)],
        draw(st.none() | st.lists(TEXTS, min_size=size, max_size=size)),
        draw(st.none() | st.lists(TEXTS, min_size=size, max_size=size)),
    )


@given(traces())
def test_a_written_trace_reads_back_the_same(trace: Trace) -> None:
    text = io.StringIO()
    write_trace(trace, text)
    again, report = read(text.getvalue().encode())
    assert again.content_hash() == trace.content_hash()
    assert report.repaired.total == report.refused.total == 0


def test_writing_to_a_path_is_the_same_bytes(tmp_path: Path) -> None:
    trace = Trace.of("t", [0, 1], [2, 3], [4, 5], classes=["a", "b,c"])
    write_trace(trace, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == (
        b'arrival_s,prompt_tokens,output_tokens,class\n0,2,4,a\n0.000000000001,3,5,"b,c"\n'
    )


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_hold_every_line_once(size: int) -> None:
    data = b"".join(b"%d\r\n" % n for n in range(100)) + b"last"
    parts = list(blocks(io.BytesIO(data), "t", size))
    assert b"".join(part.data for part in parts) == data + b"\n"
    seen = 1
    for part in parts:
        assert part.first_line == seen
        seen += part.data.count(b"\n")


def test_single_reader_reports_the_first_bad_field() -> None:
    result = RowReader(PHASEPLAN, list(PHASEPLAN.required)).read(9, b"x,y,z")
    assert result.row is None
    assert [issue.field for issue in result.issues] == ["arrival_s"]
