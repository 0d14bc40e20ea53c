"""Inline machines and models in a case: the catalogue's column names, checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simcore.catalogue import accelerator, machine, model
from simcore.spec import Machine, Model, SpecError, decode, encode


@pytest.mark.parametrize("machine_id", ["dgx-a100", "dgx-h100-pcap"])
def test_a_machine_survives_the_way_to_json_and_back(machine_id: str) -> None:
    plain = json.loads(json.dumps(encode(machine(machine_id))))
    assert decode(Machine, plain) == machine(machine_id)
    plain["accelerator"] = encode(accelerator("h200-141gb"))
    inline = decode(Machine, plain)
    assert inline.accelerator == accelerator("h200-141gb")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kv_heads": 7}, "kv_heads: found 7, expected a divisor of heads"),
        ({"layers": 0}, "layers: found 0, expected at least 1"),
        ({"weight_precision": "int4"}, "weight_precision: found 'int4', expected one of bf16, fp8, fp4"),
        ({"gated_mlp": "yes"}, "gated_mlp: found 'yes', expected true or false"),
        ({"head_dims": 1}, "head_dims: unknown key, .*nearest: 'head_dim'"),
    ],
)
def test_a_models_figures_are_checked(change: dict[str, Any], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        decode(Model, {**encode(model("llama2-70b")), **change}, "model")


def test_provisioned_is_the_nameplate_where_not_given() -> None:
    assert machine("dgx-h100").provisioned() == machine("dgx-h100").nameplate_w
