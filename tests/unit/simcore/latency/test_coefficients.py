"""The coefficients' table: complete for every accelerator and engine, with provenance."""

from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from simcore.catalogue import STATUSES, accelerator_ids
from simcore.latency.coefficients import ANY, coefficients

ENGINES = ("kernel", "vllm-2026", "vllm-2023")


def rows() -> list[dict[str, str]]:
    text = files("simcore.latency").joinpath("data/coefficients.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_every_figure_has_source_date_and_status() -> None:
    for row in rows():
        assert row["source"]
        assert row["date"]
        assert row["status"] in STATUSES


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("accelerator_id", [*accelerator_ids(), "mi300x"])
def test_every_accelerator_has_plausible_coefficients(accelerator_id: str, engine: str) -> None:
    found = coefficients(accelerator_id, engine)
    shares = (found.flops_share, found.bandwidth_share, found.attention_flops_share, found.attention_bandwidth_share)
    assert all(0 < share <= 1 for share in (*shares, *found.allreduce_bandwidth_share))
    assert found.large_batch_slowdown >= 1
    assert found.host_step_s >= 0


def test_only_the_kernel_engine_has_no_host_time() -> None:
    for accelerator_id in accelerator_ids():
        assert coefficients(accelerator_id, "kernel").host_sequence_s == 0
        assert coefficients(accelerator_id, "vllm-2026").host_sequence_s > 0


def test_an_accelerator_without_rows_takes_those_of_any_and_says_so() -> None:
    own = {row["accelerator"] for row in rows() if row["engine"] == "kernel"}
    assert own == {*accelerator_ids(), ANY}
    assert coefficients("mi300x", "kernel").status == "assumption"
    assert coefficients("h100-80gb", "kernel").status == "estimate"
    assert coefficients("h200-141gb", "vllm-2023").status == "assumption"
