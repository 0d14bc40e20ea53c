"""What is refused in one line, and what a refusal leaves alone."""

import json
import os
import subprocess
import sys

import pytest

from tests.unit.simcore.command_line.cases import CASE, refused
from tests.unit.simcore.runs import CURVE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "case.json: line 1, column 1: Expecting value"),
        ("{", "case.json: line 1, column 2"),
        ("[]", "case: found list, expected an object"),
        ('{"model": "llama2-7b",\n "pools": ,}', "case.json: line 2, column 11"),
        ('{"modle": "x"}', "case.json: modle: unknown key"),
        ('{"model": "a", "model": "b"}', "case.json: model: found twice"),
        ('{"seed": NaN}', "case.json: found NaN, expected a finite number"),
        (f'{{"seed": {"9" * 5000}}}', "case.json: found a whole number of 5000 digits"),
        ("[" * 100_000, "case.json: found JSON nested too deeply"),
        (json.dumps({**CASE, "model": "llama2-7x"}), "case.json: model: found 'llama2-7x', expected one of"),
        (
            json.dumps({**CASE, "model": "llama2-7x", "slo": {}, "latency": {}}),
            "case.json: model: found 'llama2-7x', expected one of",
        ),
        ('{"model": "\\ud800"}', "case.json: found '\\ud800', expected text with whole characters"),
        ('{"model": {"\\udfff": 1}}', "case.json: found '\\udfff', expected text with whole characters"),
        (json.dumps({**CASE, "slo": {"kind": "slowdown"}}), "case.json: slo.reference_latency: missing"),
        (json.dumps({**CASE, "prices": "none"}), "case.json: "),
        (json.dumps({**CASE, "latency": {**CURVE, "prefill_s": [1e300, 1e300]}}), "case.json"),
    ],
)
def test_a_bad_case_is_refused_in_one_line(files, capsys, text, message):
    (files / "case.json").write_text(text)
    assert message in refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle")


@pytest.mark.parametrize("depth", range(900, 1000, 3))
def test_json_of_any_depth_is_refused_in_one_line(files, capsys, depth):
    (files / "case.json").write_text('{"latency": {"path": ' + '{"a":' * depth + "1" + "}" * (depth + 2))
    refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle")


def test_binary_is_refused(files, capsys):
    (files / "case.json").write_bytes(b"\x89PNG\xff\x00")
    assert "case.json: found byte 0x89 at 0, expected UTF-8" in refused(
        capsys, "simulate", "case.json", "--trace", "trace.csv"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "trace.csv: found an empty file"), (b"\x1f\x8b\x08", "gzip"), (b"a,b\n1,2\n", "trace.csv: line 1")],
)
def test_a_bad_trace_is_refused_in_one_line(files, capsys, content, message):
    (files / "trace.csv").write_bytes(content)
    assert message in refused(capsys, "simulate", "case.json", "--trace", "trace.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["simulte"], "invalid choice"),
        (["simulate", "case.json"], "--trace"),
        (["simulate", "no.json", "--trace", "trace.csv"], "no.json: found no such file or directory"),
        (["simulate", ".", "--trace", "trace.csv"], ".: found is a directory"),
        (["simulate", "case.json", "--trace", "no.csv"], "no.csv"),
        (["simulate", "case.json", "--trace", "trace.csv", "--engine", "slow"], "--engine"),
        (
            ["simulate", "case.json", "--trace", "trace.csv", "--requests", "no/out.csv"],
            "no/out.csv: found no folder no",
        ),
        (["simulate", "case.json", "--trace", "trace.csv", "--summary", "."], ".: found a folder"),
        (["simulate", "case.json", "--trace", "trace.csv", "--rate", "0"], "argument --rate: found '0', expected"),
        (["simulate", "case.json", "--trace", "trace.csv", "--rate", "1e9"], "argument --rate: found '1e9', expected"),
        (["inspect", "trace.csv", "--rate", "nan"], "argument --rate: found 'nan', expected a number of requests/s"),
        (["inspect", "trace.csv", "--rate", "5", "--arrivals", "bursts"], "argument --arrivals: invalid choice"),
        (["inspect", "trace.csv", "--rate", "1e-300"], "rate: found arrivals up to"),
        (["iteration", "case.json"], "found nothing"),
        (["iteration", "case.json", "--prefill", "1.5"], "argument --prefill: found '1.5'"),
        (["iteration", "case.json", "--prefill", "5@"], "argument --prefill: found ''"),
        (["iteration", "case.json", "--prefill", "0"], "argument --prefill: found '0'"),
        (["iteration", "case.json", "--decode-contexts", "9" * 400], "argument --decode-contexts: found '999"),
        (["plan", "case.json", "--jobs", "0"], "argument --jobs: found '0'"),
        (["plan", "case.json"], "case.json: "),
    ],
)
def test_bad_arguments_are_refused_in_one_line(files, capsys, arguments, message):
    assert message in refused(capsys, *arguments)


@pytest.mark.parametrize(
    "options",
    [
        ("simulate", "--requests", "out", "--summary", "./out"),
        ("simulate", "--requests", "trace.csv"),
        ("simulate", "--summary", "case.json"),
        ("capacity", "--summary", "trace.csv"),
    ],
)
def test_no_result_goes_over_another_or_over_the_input(files, capsys, options):
    before = {name: (files / name).read_bytes() for name in ("case.json", "trace.csv")}
    message = refused(capsys, options[0], "case.json", "--trace", "trace.csv", *options[1:])
    assert message.startswith(f"{options[-1]}: found it twice on the command line")
    assert {name: (files / name).read_bytes() for name in os.listdir(files)} == before


def test_a_refused_run_leaves_an_earlier_result_alone(files, capsys):
    (files / "out.json").write_text("earlier")
    (files / "case.json").write_text("{}")
    refused(capsys, "simulate", "case.json", "--trace", "trace.csv", "--summary", "out.json")
    assert (files / "out.json").read_text() == "earlier"
    assert sorted(os.listdir(files)) == ["case.json", "out.json", "trace.csv"]


def test_a_full_disk_is_said_in_one_line(files, capsys):
    assert "no space left on device" in refused(
        capsys, "simulate", "case.json", "--trace", "trace.csv", "--engine", "oracle", "--requests", "/dev/full"
    )


def test_it_runs_as_a_module(files):
    done = subprocess.run(
        [sys.executable, "-m", "simcore", "iteration", "case.json", "--prefill", "64"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["iteration_s"] == 0.1
