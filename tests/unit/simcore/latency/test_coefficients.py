"""The coefficients' table: complete for every accelerator and engine, with provenance."""

from __future__ import annotations

import csv
import dataclasses
from importlib.resources import files

import pytest

from simcore.catalogue import STATUSES, accelerator_ids
from simcore.latency.coefficients import coefficients

ENGINES = ("kernel", "vllm-2026", "trtllm-2025", "vllm-2023")


def rows() -> list[dict[str, str]]:
    text = files("simcore.latency").joinpath("data/coefficients.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_every_figure_has_source_date_and_status() -> None:
    for row in rows():
        assert row["source"]
        assert row["date"]
        assert row["status"] in STATUSES


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("accelerator_id", [*accelerator_ids(), "ours"])
def test_every_accelerator_has_plausible_coefficients(accelerator_id: str, engine: str) -> None:
    found = coefficients(accelerator_id, engine)
    shares = (found.flops_share, found.bandwidth_share, found.attention_flops_share, found.attention_bandwidth_share)
    shares += (found.fp8_flops_share, found.fp4_flops_share, found.expert_flops_share)
    assert all(0 < share <= 1 for share in (*shares, *found.allreduce_bandwidth_share))
    assert found.large_batch_slowdown >= 1
    assert found.host_step_s >= 0
    assert found.engine_version
    assert found.tile("fp8") in (64, 128, 256)


def test_only_the_kernel_engine_has_no_host_time() -> None:
    for accelerator_id in accelerator_ids():
        assert coefficients(accelerator_id, "kernel").host_sequence_s == 0
        assert coefficients(accelerator_id, "vllm-2026").host_sequence_s > 0


def test_an_accelerator_without_rows_takes_those_of_any_and_says_so() -> None:
    assert (coefficients("ours", "kernel").status, coefficients("ours", "kernel").stand_in) == (
        "assumption",
        "h100-80gb",
    )
    assert coefficients("ours", "kernel").flops_share == coefficients("h100-80gb", "kernel").flops_share
    assert (coefficients("h100-80gb", "kernel").status, coefficients("h100-80gb", "kernel").stand_in) == (
        "estimate",
        None,
    )
    assert coefficients("h200-141gb", "vllm-2023").status == "assumption"


def test_what_is_known_of_an_accelerator_goes_before_what_stands_in_for_it() -> None:
    amd, stand_in = (coefficients(name, "vllm-2026") for name in ("mi300x-192gb", "h100-80gb"))
    assert amd.stand_in == "h100-80gb"
    assert amd.flops_share < stand_in.flops_share
    assert amd.bandwidth_share == stand_in.bandwidth_share


def test_every_stand_in_was_measured() -> None:
    measured = {row["accelerator"] for row in rows() if row["field"] == "bandwidth_share"}
    assert {row["value"] for row in rows() if row["field"] == "like"} <= measured
    assert measured >= {"a100-80gb", "h100-80gb", "h200-141gb", "b200-180gb", "gb200-192gb", "l40s-48gb"}


@pytest.mark.parametrize(
    ("tokens", "precision", "computed"),
    [
        (1, "bf16", 64),
        (65, "bf16", 128),
        (129, "bf16", 256),
        (128, "fp8", 128),
        (129, "fp8", 256),
        (257, "fp8", 512),
        (512, "fp8", 512),
    ],
)
def test_products_compute_whole_tiles(tokens: int, precision: str, computed: int) -> None:
    fitted = dataclasses.replace(coefficients("h100-80gb", "kernel"), tile_tokens=128, quantised_tile_tokens=256)
    assert fitted.computed_tokens(tokens, precision) == computed
