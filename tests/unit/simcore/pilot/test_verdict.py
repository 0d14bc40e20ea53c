"""What a measured result says about the purchase."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from simcore.measurements import Measurements, Setting, read_measurements
from simcore.pilot import verdict
from simcore.spec import SpecError
from tests.unit.simcore.pilot.pilots import CO_LOCATED, PAIR, benchmark, kit_of, measured


@pytest.mark.parametrize(
    ("slower", "passes", "words"),
    [
        (1.0, True, "Passes: as predicted."),
        (0.8, True, "Passes, faster than predicted"),
        (1.16, True, "Passes, slower than predicted"),
        (1.5, False, "Do not buy: TPOT, mean came to"),
    ],
)
def test_a_result_passes_or_fails(slower: float, passes: bool, words: str) -> None:
    run = kit_of(CO_LOCATED, headroom=1.3).runs[0]
    judged = verdict(run, measured(run, slower))
    assert judged.passes == passes
    assert judged.sentence.startswith(words)


def test_without_headroom_what_is_slower_than_predicted_fails_even_within_the_band() -> None:
    run = kit_of(CO_LOCATED, headroom=1.02, error=0.2).runs[0]
    assert not verdict(run, measured(run, 1.1)).passes


def test_a_part_that_does_not_keep_up_fails() -> None:
    run = kit_of(CO_LOCATED).runs[0]
    judged = verdict(run, measured(run, requests_per_s=run.req_per_s * 0.8))
    assert not judged.passes
    assert "needs at least 1.42" in judged.sentence


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"prompt_tokens": 512.0}, "found 512 prompt tokens a request, expected 1020"),
        ({"output_tokens": None}, "found none output tokens"),
        ({"rate_req_per_s": 3.0}, "found 3 requests/s offered, expected 1.5"),
        (
            {"load": "concurrency", "rate_req_per_s": None},
            "found a closed loop or a burst, expected a request rate of 1.5",
        ),
        ({"failed": 100}, "found 100 of 1000 requests failed"),
        ({"tpot_s": None}, "found no TPOT, mean"),
        ({"setting": Setting(model="Qwen/Qwen3-32B")}, "found model Qwen/Qwen3-32B, expected llama-3.1-70b as in"),
        ({"setting": Setting(accelerator="NVIDIA A100")}, "found accelerator NVIDIA A100, expected h100-80gb as in"),
        ({"setting": Setting(tensor_parallel=8)}, "found tensor parallel degree 8, expected 4 as in the pilot"),
        ({"setting": Setting(precision="fp8")}, "found precision fp8, expected bf16 as in the pilot"),
    ],
)
def test_a_result_of_another_run_is_refused(other: dict[str, Any], words: str) -> None:
    run = kit_of(CO_LOCATED).runs[0]
    with pytest.raises(SpecError) as error:
        verdict(run, measured(run, **other))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("setting", "same"),
    [
        (Setting(model="our-70b", accelerator="h100-80gb+a100-80gb"), True),
        (Setting(model="meta-llama/Llama-3.1-70B-Instruct", accelerator="NVIDIA A100", tensor_parallel=4), True),
        (Setting(accelerator="a100-80gb+h100-80gb"), False),
        (Setting(accelerator="h100-80gb+h100-80gb"), False),
        (Setting(accelerator="b200-180gb"), False),
    ],
)
def test_a_pairs_result_is_of_both_machines(setting: Setting, same: bool) -> None:
    decode, prefill = PAIR["pools"]
    pools = [decode | {"machine": "dgx-a100", "machines": 4}, prefill | {"machines": 4}]
    (run,) = kit_of(PAIR | {"pools": pools}).runs
    if same:
        assert verdict(run, measured(run, setting=setting)).passes
    else:
        with pytest.raises(SpecError, match="as in the pilot"):
            verdict(run, measured(run, setting=setting))


def brought(tmp_path: Path, *results: dict[str, Any] | str) -> Measurements:
    path = tmp_path / "bench.json"
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in results))
    return read_measurements([str(path)])


@pytest.mark.parametrize("served", [0.3, 0.6, 0.85])
def test_a_part_whose_queue_grew_is_not_to_be_bought(tmp_path: Path, served: float) -> None:
    """The reader drops a growing queue's TTFT and takes the load for that of a closed loop: the verdict stands."""
    run = kit_of(CO_LOCATED).runs[0]
    (point,) = brought(tmp_path, benchmark(run, served, mean_ttft_ms=80_000.0)).serving
    judged = verdict(run, point)
    assert not judged.passes
    assert judged.sentence.startswith("Do not buy: requests/s came to")
    assert [line.figure for line in judged.lines][-1] == "req_per_s"
    (kept_up,) = brought(tmp_path, benchmark(run)).serving
    assert verdict(run, kept_up).passes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"request_rate": "inf"}, "found a closed loop or a burst, expected a request rate"),
        ({"request_rate": "inf", "max_concurrency": 8}, "found a closed loop or a burst"),
        ({"mean_tpot_ms": "fast"}, "found no TPOT, mean"),
        ({"mean_ttft_ms": math.nan}, "found no TTFT, mean"),
        ({"request_throughput": True}, "found no requests/s"),
    ],
)
def test_a_result_that_cannot_be_judged_says_why(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    run = kit_of(CO_LOCATED).runs[0]
    found = brought(tmp_path, benchmark(run, median_tpot_ms=None, **changes))
    with pytest.raises(SpecError) as error:
        verdict(run, found.serving[0])
    assert words in str(error.value)
