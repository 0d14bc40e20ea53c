"""Broken traces: one clear line for a useless file, a counted refusal for a useless row."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simcore.traces import ParseReport, Trace, TraceError, read_trace
from simcore.traces.lines import LONGEST_LINE_BYTES

HEADER = b"arrival_s,prompt_tokens,output_tokens\n"
AZURE_HEADER = b"TIMESTAMP,ContextTokens,GeneratedTokens\r\n"


def read(data: bytes) -> tuple[Trace, ParseReport]:
    return read_trace(io.BytesIO(data), "t.csv")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "t.csv: found an empty file, expected a header"),
        (b"\n \r\n", "t.csv: found an empty file"),
        (HEADER, "t.csv: line 2: found the end of the file after the header"),
        (HEADER.rstrip(), "t.csv: line 2: found the end of the file after the header"),
        (AZURE_HEADER.rstrip(), "t.csv: line 2: found the end of the file after the header"),
        (b"\x1f\x8b\x08\x00", "t.csv: found a gzip file that ends early, after 0 bytes"),
        (b"PK\x03\x04rest", "t.csv: found a zip or XLSX file, expected requests as CSV or JSON in UTF-8"),
        (b"\xff\xfea\x00r\x00", "t.csv: found UTF-16 text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "t.csv: line 1: found byte 0x89 at 0, expected UTF-8 text"),
        (HEADER + b"1,2,3\n\x00\x01\x02\n", "t.csv: line 3: found binary data"),
        (bytes(range(10)) * 50, "found binary data"),
        (b"0.5,100,20\n1,2,3\n", "t.csv: line 1: found a row of values, '0.5,100,20', and no header before it"),
        (b"arrival_s,prompt_tokens\n1,2\n", "expected also the column output_tokens (Phaseplan trace)"),
        (b"arrival_s,prompt_tokens,output_tokens,arrival_s\n", "found column arrival_s twice"),
        (b"TIMESTAMP,ContextTokens\n", "expected also the column GeneratedTokens (Azure LLM"),
        (b'"arrival_s,prompt_tokens\n', "t.csv: line 1: found unexpected end of data, expected a header"),
        (b"x" * (LONGEST_LINE_BYTES + 1), "t.csv: line 1: found more than 65536 bytes without a line end"),
        (HEADER + b"y" * (LONGEST_LINE_BYTES + 1), "t.csv: line 2: found more than 65536 bytes"),
        (HEADER + b"1,nan,3\n", "t.csv: line 2, column prompt_tokens: found 'nan', expected a whole number"),
        (HEADER + b"\n\n", "line 2: found an empty line, expected 3 fields (none of 2 rows is usable"),
    ],
)
def test_useless_file_is_one_clear_line(data: bytes, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        read(data)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_is_a_trace_error() -> None:
    with pytest.raises(TraceError, match=r"absent\.csv: found No such file"):
        read_trace("absent.csv")


def test_folder_is_a_trace_error(tmp_path: object) -> None:
    with pytest.raises(TraceError, match="found Is a directory, expected a readable file"):
        read_trace(str(tmp_path))


@pytest.mark.parametrize(
    ("row", "kind", "field", "found"),
    [
        (b"abc,2,3", "not a number", "arrival_s", "'abc'"),
        (b"1,two,3", "not a number", "prompt_tokens", "'two'"),
        (b"1,2,3 tokens", "not a number", "output_tokens", "'3 tokens'"),
        (b"1,1_000,3", "not a number", "prompt_tokens", "'1_000'"),
        ("1,١٢,3".encode(), "not a number", "prompt_tokens", "'١٢'"),
        (b'1,"1,00",3', "not a number", "prompt_tokens", "'1,00'"),
        (b"arrival_s,prompt_tokens,output_tokens", "repeated header", "", "the header again"),
        (b"1,2,3,4,", "too many fields", "", "5"),
        (b"1,0x10,3", "not a number", "prompt_tokens", "'0x10'"),
        (b"1,-5,3", "out of range", "prompt_tokens", "'-5'"),
        (b"1,2,0", "out of range", "output_tokens", "'0'"),
        (b"1,2,99999999999", "out of range", "output_tokens", "'99999999999'"),
        (b"1,2,99999999999999999999999", "out of range", "output_tokens", "'99999999999999999999999'"),
        (b"-0.5,2,3", "out of range", "arrival_s", "'-0.5'"),
        (b"1700000000,2,3", "out of range", "arrival_s", "'1700000000'"),
        (b"5400000.1,2,3", "out of range", "arrival_s", "'5400000.1'"),
        (b"1,2.5,3", "not a whole number", "prompt_tokens", "'2.5'"),
        (b"nan,2,3", "not finite", "arrival_s", "'nan'"),
        (b"1,NaN,3", "not finite", "prompt_tokens", "'NaN'"),
        (b"1,2,-inf", "not finite", "output_tokens", "'-inf'"),
        (b"1,,3", "empty field", "prompt_tokens", "nothing"),
        (b",,", "empty field", "arrival_s", "nothing"),
        (b"1,2", "too few fields", "", "2"),
        (b"1,2,3,4", "too many fields", "", "4"),
        (b"", "empty line", "", "an empty line"),
        (b"  \t", "empty line", "", "an empty line"),
        (b'1,"2,3', "broken quoting", "", "unexpected end of data"),
        (b"1,\xff,3", "not UTF-8", "", "byte 0xff"),
        (b"1,2\r,3", "broken quoting", "", "new-line character seen in unquoted field"),
        (b"1," + b"7" * 300 + b",3", "not a number", "prompt_tokens", "'" + "7" * 60 + "…'"),
        (b"1,1e999999999,3", "not a number", "prompt_tokens", "'1e999999999'"),
    ],
)
def test_useless_row_is_refused_and_the_rest_kept(row: bytes, kind: str, field: str, found: str) -> None:
    trace, report = read(HEADER + b"1,20,30\n" + row + b"\n2,40,50\n")
    assert trace.prompt_tokens.tolist() == [20, 40]
    assert (report.rows_read, report.accepted, report.refused_rows) == (3, 2, 1)
    (issue,) = report.refused.listed
    assert (issue.kind, issue.line, issue.field) == (kind, 3, field)
    assert issue.found.startswith(found)
    assert issue.expected
    assert report.refused.counts == {kind: 1}


@pytest.mark.parametrize(
    "time",
    [
        "2023-02-30 00:00:00.5",
        "2023-11-16 24:00:00.0",
        "16/11/2023 18:15",
        "1699999999",
        "2300-01-01 00:00:00.1",
        "",
        "2023-11-16 18:15:46.1234567890",
        "2023-11-16 18:15:46.",
        "2023-13-01 00:00:00.1",
        "2023-11-16_18:15:46.1",
    ],
)
def test_useless_timestamp_is_refused(time: str) -> None:
    good = b"2023-11-16 18:15:46.6805900,374,44\r\n"
    trace, report = read(AZURE_HEADER + good + time.encode() + b",1,1\r\n")
    assert len(trace) == 1
    (issue,) = report.refused.listed
    assert (issue.line, issue.field) == (3, "TIMESTAMP")


def test_contradicting_optional_columns_are_refused() -> None:
    header = b"arrival_s,prompt_tokens,output_tokens,cached_prompt_tokens,max_output_tokens\n"
    _, report = read(header + b"1,10,5,11,\n1,10,5,,4\n1,10,5,,5\n1,10,5,9,0\n")
    assert [(issue.line, issue.kind) for issue in report.refused.listed] == [
        (2, "more cached than prompt"),
        (3, "limit below output"),
    ]
    assert report.accepted == 2


def test_every_refusal_is_counted_and_the_first_hundred_listed() -> None:
    _, report = read(HEADER + b"1,1,1\n" + b"1,x,1\n" * 250 + b"1,1,0\n" * 5)
    assert report.refused.counts == {"not a number": 250, "out of range": 5}
    assert len(report.refused.listed) == 100
    assert report.refused_rows == 255


def test_more_rows_than_allowed_is_an_error() -> None:
    with pytest.raises(TraceError, match=r"line 4: found more than 2 rows"):
        read_trace(io.BytesIO(HEADER + b"1,1,1\n" * 3), "t.csv", max_rows=2)
    read_trace(io.BytesIO(HEADER + b"1,1,1\n" * 2), "t.csv", max_rows=2)


def test_times_that_span_years_are_an_error() -> None:
    rows = b"1971-01-01 00:00:00.0,1,1\r\n2023-11-16 18:15:46.5,1,1\r\n"
    with pytest.raises(TraceError, match="column TIMESTAMP: found 1,668,"):
        read(AZURE_HEADER + rows)


@given(st.sampled_from([b"", HEADER, AZURE_HEADER]), st.binary(max_size=200))
@example(HEADER, b'"\n"\r\n1,1,1\r\r\n')
def test_whatever_the_bytes_there_is_a_trace_or_one_line(header: bytes, data: bytes) -> None:
    try:
        trace, report = read(header + data)
    except TraceError as error:
        said = str(error)
    else:
        assert len(trace) == report.accepted
        assert report.rows_read == report.accepted + report.refused.total
        said = "".join(map(str, report.refused.listed))
    assert said.isprintable()
