"""Tables as spreadsheets, scripts and clocks really leave them: repaired where one reading is right, doubted in words
where another may be meant."""

import io

import pytest

from simcore.traces import ParseReport, Trace, TraceError, read_trace
from simcore.traces.trace import PS_PER_S
from tests.unit.simcore.traces.samples import aiperf, aiperf_record, document, mooncake

HEADER = "arrival_s,prompt_tokens,output_tokens\n"
AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
ROWS = "0,10,2\n1,20,3\n"
START_NS = 1_759_813_207_532_900_363


def read(text: str | bytes) -> tuple[Trace, ParseReport]:
    return read_trace(io.BytesIO(text.encode() if isinstance(text, str) else text), "t")


def azure(*times: str) -> str:
    return AZURE + "".join(f"{time},10,2\r\n" for time in times)


@pytest.mark.parametrize(
    ("before", "kinds"),
    [
        ("\n \r\n", {"empty line before the header": 2}),
        ("# exported on Monday\n#\n", {"comment": 2}),
        ("sep=,\r\n", {"separator line": 1}),
        ("\ufeff\n", {"byte order mark": 1, "empty line before the header": 1}),
    ],
)
def test_what_stands_before_the_header_is_passed_over_and_lines_still_count(before: str, kinds: object) -> None:
    trace, report = read(f"{before}{HEADER}{ROWS}x,1,1\n")
    assert trace.prompt_tokens.tolist() == [10, 20]
    assert report.repaired.counts == kinds
    assert report.refused.listed[0].line == before.count("\n") + 4


def test_excel_says_what_separates() -> None:
    trace, report = read("sep=;\narrival_s;prompt_tokens;output_tokens\n0,5;10;2\n")
    assert trace.arrival_ps.tolist() == [PS_PER_S // 2]
    assert report.repaired.counts == {"separator line": 1, "delimiter": 1, "decimal comma": 1}


def test_a_header_in_other_letters_is_the_header() -> None:
    trace, report = read("Arrival_S,PROMPT_TOKENS,output_tokens,Class\n0,10,2,chat\n")
    assert (trace.prompt_tokens.tolist(), trace.classes) == ([10], ("chat",))
    assert report.repaired.counts == {"other letters in the header": 3}
    assert read("timestamp,contexttokens,generatedtokens\n2023-11-16 18:15:46.68,374,44\n")[1].format == "azure"
    with pytest.raises(TraceError, match="found column class twice"):
        read("arrival_s,prompt_tokens,output_tokens,class,Class\n0,10,2,a,b\n")


def test_commas_between_thousands_are_taken_out_where_they_are_in_quotes() -> None:
    trace, report = read(HEADER + '0,"1,024","2,000"\n1,"1,234,567",3\n2,"12,34",3\n')
    assert trace.prompt_tokens.tolist() == [1024, 1_234_567]
    assert report.repaired.counts == {"thousands separators": 3}
    assert report.refused.counts == {"not a number": 1}


@pytest.mark.parametrize("number", ["1.024", "1,024", "1.000", "12.345.678"])
def test_thousands_or_decimals_is_not_guessed(number: str) -> None:
    trace, report = read(f"arrival_s;prompt_tokens;output_tokens\n0;10;2\n1;{number};2\n2;20.0;2\n")
    assert trace.prompt_tokens.tolist() == [10, 20]
    assert report.refused.counts == {"ambiguous number": 1}


def test_a_delimiter_at_each_end_is_left_out() -> None:
    trace, report = read(HEADER + "0,10,2,\n1,20,3, \n")
    assert trace.prompt_tokens.tolist() == [10, 20]
    assert (report.repaired.counts, report.repaired_rows) == ({"delimiter at the end": 2}, 2)


def test_rows_that_are_no_requests_are_none_that_is_missing() -> None:
    _, report = read(HEADER + ROWS + "\n" + HEADER + "2,x,3\n\n")
    assert report.refused.counts == {"empty line": 2, "repeated header": 1, "not a number": 1}
    assert (report.refused_rows, report.refused_requests) == (4, 1)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_records_is_read_entry_by_entry(indent: int | None) -> None:
    rows = [{"timestamp": at, "input_length": 5, "output_length": at // 1000} for at in (1000, 0, 3000)]
    trace, report = read(document(rows, indent=indent))
    assert trace.arrival_ps.tolist() == [0, 2 * PS_PER_S]
    assert (report.counted_by, report.repaired.counts) == ("entry", {"list": 1})
    assert [(issue.line, issue.kind) for issue in report.refused.listed] == [(2, "out of range")]
    aiperf_list = document([aiperf_record(START_NS, 5, 5), aiperf_record(START_NS + 1, 5, 5)], indent=indent)
    assert read(aiperf_list)[1].format == "aiperf"


def test_a_record_that_is_nested_without_end_is_one_refused_row() -> None:
    deep = b'{"timestamp": 1, "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    trace, report = read(mooncake((0, 5, 2)) + deep + mooncake((5, 5, 2)))
    assert (len(trace), report.refused.counts, report.refused.listed[0].line) == (2, {"no JSON": 1}, 2)


@pytest.mark.parametrize("per_ns", [1000, 10**6, 10**9])
def test_a_clock_of_another_unit_is_not_nanoseconds(per_ns: int) -> None:
    with pytest.raises(TraceError, match=r"line 1, .*expected nanoseconds since 1970, in 19 digits"):
        read(aiperf(*(aiperf_record((START_NS + n * 10**9) // per_ns, 5, 5) for n in range(3))))


def test_seconds_where_milliseconds_stand_are_doubted() -> None:
    (doubt,) = read(mooncake(*((n / 5, 1000, 200) for n in range(500))))[1].doubts
    assert doubt.startswith("timestamp is read as milliseconds: 500 requests in 0.0998 s, 5,000 requests/s")
    assert doubt.endswith("If it counts seconds, multiply it by 1,000.")
    assert read(mooncake(*((200 * n, 1000, 200) for n in range(500))))[1].doubts == []


def test_milliseconds_where_seconds_stand_are_doubted_or_too_long() -> None:
    (doubt,) = read(HEADER + "".join(f"{5000 * n},10,2\n" for n in range(100)))[1].doubts
    assert "one in 5,000 s. If it counts milliseconds, divide it by 1,000." in doubt
    with pytest.raises(TraceError, match="if it counts milliseconds, divide it by 1,000"):
        read("Timestamp,Request tokens,Response tokens\n" + "".join(f"{5000 * n},1,1\n" for n in range(2000)))


def test_a_day_far_off_is_named_by_its_lines() -> None:
    with pytest.raises(TraceError, match=r"the longest gap, 315,532,799 s, is between line 3 and line 4"):
        read(azure("2013-11-16 18:15:46", "2013-11-16 18:15:47", "2023-11-16 18:15:46"))


def test_a_long_silence_is_doubted() -> None:
    busy = "".join(f"{n},10,2\n" for n in range(100))
    (doubt,) = read(HEADER + busy + "3699,10,2\n")[1].doubts
    assert doubt.startswith("Nothing comes for 3,600 s, 97% of the whole span, between line 101 and line 102.")


FALL = [f"2024-10-27 02:{minute}:00" for minute in range(50, 60)] + [
    f"2024-10-27 02:0{minute}:00" for minute in range(5)
]


def test_a_clock_set_back_is_doubted_once() -> None:
    _, report = read(azure(*FALL))
    (doubt,) = report.doubts
    assert doubt.startswith("At line 12 times go back by 3,540 s, about an hour, and never else: a clock set back")
    assert report.repaired.counts == {"arrival out of order": 5}
    assert "about an hour" not in "".join(read(azure(*FALL, *FALL))[1].doubts)


def test_two_files_in_one_are_doubted() -> None:
    one = HEADER + "".join(f"{50 * n},10,2\n" for n in range(30))
    (doubt,) = read(one + one)[1].doubts
    assert doubt.startswith("At line 33 times go back by 1,450 s, after the header has come again")


def test_times_with_and_without_an_offset_are_doubted_unless_it_is_none() -> None:
    times = ["2024-05-10 02:00:00+02:00", "2024-05-10 00:00:01", "2024-05-10T00:00:02Z"]
    (doubt,) = read(azure(*times))[1].doubts
    assert doubt.startswith("1 times have no offset, others have one that is not UTC's")
    assert read(azure(*times[1:]))[1].doubts == []
    assert read(azure(times[0], times[2]))[1].doubts == []


def test_doubts_are_told_with_the_report() -> None:
    told = read(mooncake(*((n / 5, 1000, 200) for n in range(500))))[1].to_json()
    assert len(told["doubts"]) == 1


def test_one_time_far_after_all_others_is_named_with_its_line() -> None:
    """Not the 300 rows below it, which are out of order for it alone."""
    rows = [f"{n},10,2" for n in range(500)]
    rows[199] = "900000,10,2"
    (doubt,) = read(HEADER + "\n".join(rows) + "\n")[1].doubts
    assert doubt == (
        "The time of line 201 is 899,501 s after every other's, though 300 rows below it are earlier: a wrong time?"
        " With it the trace is 900,000 s long, without it 499 s, and those below it count as out of order: mend or cut"
        " that line."
    )
    last = read(HEADER + "\n".join([*rows[:199], *rows[200:], rows[199]]) + "\n")[1].doubts
    assert last[-1].startswith("Nothing comes for"), "the last row may be after a silence"
