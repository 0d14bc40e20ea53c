"""A case and a trace in files, and how commands are run on them."""

from simcore.__main__ import main
from tests.unit.simcore.runs import CURVE

CASE = {
    "model": "llama2-7b",
    "pools": [{"role": "mixed", "machine": "dgx-h100", "machines": 1, "tensor_parallel": 8}],
    "scheduler": {"kind": "sarathi"},
    "latency": CURVE,
    "slo": {"kind": "absolute", "limits": [{"metric": "ttft_s", "percentile": 90, "limit": 0.3}]},
}


ROWS = "".join(f"{i * 0.25},{100 + 7 * i % 50},{1 + i % 9}\n" for i in range(60))


TRACE = "arrival_s,prompt_tokens,output_tokens\n" + ROWS


def refused(capsys, *arguments):
    """The one line that a refused command prints."""
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err


def simulate(*options):
    return main(["simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle", *options])


UNCLEAN = "\ufeff" + TRACE + "16,many,3\n15.5,7,0\n0.125,7,2\n"


REFUSED = "trace.csv: 2 of 63 rows cannot be used and were left out: not a number 1, out of range 1 (first: line 62, "


REPAIRED = "trace.csv: repaired: arrival out of order 1, byte order mark 1 (first: line 1: "


def said(warnings, start):
    return [warning for warning in warnings if warning.startswith(start)]
