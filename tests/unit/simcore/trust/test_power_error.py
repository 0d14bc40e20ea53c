"""How far off drawn watts may be."""

import csv
import math
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from simcore.catalogue import machine, model, resolve_accelerator
from simcore.spec import Case, LatencySpec, PoolSpec, SchedulerSpec
from simcore.trust.power_error import power_error
from simcore.trust.sentences import power_words

FITTED = Path(__file__).parents[4] / "docs" / "power-fit.md"
ROW = re.compile(r"^\| (\w+) \| all \| \| \d+ \| \w+ \| (\d+) % \|", re.MULTILINE)
MEASURED = LatencySpec(source="measured")


def table() -> dict[str, float]:
    rows = csv.DictReader(files("simcore.trust").joinpath("data/power.csv").read_text().splitlines())
    return {row["accelerator"]: float(row["mean_error"]) for row in rows}


def error_on(name, latency=MEASURED, of="bloom-176b", tp=8):
    found = power_error(model(of), machine(name), tp, latency)
    assert found is not None
    return found


def test_the_table_is_what_the_fit_says():
    """The worse of the fitted and the judged anchors of each accelerator."""
    said: dict[str, int] = {}
    for name, error in ROW.findall(FITTED.read_text()):
        said[name] = max(said.get(name, 0), int(error))
    assert {name.partition("-")[0].upper(): round(100 * error) for name, error in table().items()} == said


def test_measured_times_leave_the_power_models_own_error():
    error = error_on("dgx-a100")
    expected = 1.645 * table()["a100-80gb"] * math.sqrt(math.pi / 2)
    assert (error.longer, error.shorter) == (pytest.approx(expected, rel=1e-3), pytest.approx(expected, rel=1e-3))


def test_an_accelerator_without_watts_is_as_far_off_as_the_worst():
    unknown = error_on("dgx-h200")
    assert unknown.longer == max(error_on(name).longer for name in ("dgx-a100", "dgx-h100", "dgx-b200"))
    assert unknown.steps == 1


def test_whole_engines_watts_are_compared_with_their_times():
    error = error_on("dgx-h100", LatencySpec(), "llama-3.1-70b", 4)
    assert (error.steps, error.where) == (0, "llama-3.1-70b on h100-80gb TP4 in bf16")


def test_a_logged_power_takes_away_what_loads_have_in_common():
    """Predicted times of whole engines draw more than was measured on average; a log's factor takes that away."""
    shipped, latency = machine("dgx-h100"), LatencySpec()
    drawn = replace(resolve_accelerator(shipped), power_base=0.3, power_by_mbu=0.3, power_by_mfu=0.4)
    logged = replace(shipped, accelerator=drawn)
    before, after = (power_error(model("llama-3.1-70b"), one, 4, latency) for one in (shipped, logged))
    assert before is not None
    assert after is not None
    assert before.mean != 0
    assert (after.mean, after.half) == (0, before.half)
    pool = PoolSpec(role="mixed", machine=logged, machines=1, tensor_parallel=4)
    case = Case(model="llama-3.1-70b", pools=(pool,), scheduler=SchedulerSpec(kind="sarathi"))
    assert "brought to its own figures (a power log's)" in power_words(case)
    assert "brought" not in power_words(replace(case, pools=(replace(pool, machine=shipped),)))
