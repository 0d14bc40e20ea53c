"""The shipped catalogue: complete provenance, the ids of CONTRACT.md, errors that name the nearest."""

from __future__ import annotations

import dataclasses
import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from simcore import catalogue
from simcore.spec import Accelerator, Fabric, Machine, Model, SpecError, decode, encode

MIB = 2**20


def test_the_contracts_ids_are_there() -> None:
    assert {"dgx-a100", "dgx-h100", "dgx-h100-pcap", "dgx-h200", "dgx-b200"} <= set(catalogue.machine_ids())
    assert catalogue.model_ids() == (
        "bloom-176b",
        "llama2-7b",
        "llama2-70b",
        "llama-3.1-8b",
        "llama-3.1-70b",
        "llama-3.1-405b",
        "mistral-7b",
        "yi-34b",
        "falcon-180b",
        "qwen3-32b",
        "mixtral-8x7b",
        "qwen3-30b-a3b",
        "qwen3-235b-a22b",
        "gpt-oss-20b",
        "gpt-oss-120b",
        "deepseek-v3",
    )
    wanted = {
        "a100-80gb",
        "h100-80gb",
        "h200-141gb",
        "b200-180gb",
        "a40-48gb",
        "l40s-48gb",
        "gb200-192gb",
        "mi300x-192gb",
    }
    assert wanted <= set(catalogue.accelerator_ids())


@pytest.mark.parametrize("table", catalogue.TABLES)
def test_every_figure_has_source_date_and_status(table: str) -> None:
    for figure in catalogue.figures(table):
        assert figure.source
        assert re.fullmatch(r"\d{4}-\d\d(-\d\d)?", figure.date)
        assert figure.status in catalogue.STATUSES
        without_unit = figure.field in ("prefill_slowdown", "efficiency")
        assert not re.fullmatch(r"[\d.e]+", figure.value) or figure.unit or without_unit


@pytest.mark.parametrize("table", catalogue.TABLES)
def test_no_figure_is_given_twice(table: str) -> None:
    keys = [(figure.id, figure.field) for figure in catalogue.figures(table)]
    assert len(keys) == len(set(keys))


def test_what_is_recalled_is_not_called_verified() -> None:
    for table in catalogue.TABLES:
        for figure in catalogue.figures(table):
            assert figure.status != "verified" or "memory" not in figure.source.replace("memory size", "")


def test_rows_are_the_specs_dataclasses() -> None:
    for machine_id in catalogue.machine_ids():
        box = catalogue.machine(machine_id)
        assert isinstance(box, Machine)
        assert isinstance(catalogue.resolve_accelerator(box), Accelerator)
        assert box.accelerators == {"nvidia-gb200": 72, "intel-xeon-max": 2}.get(machine_id, 8)
    assert isinstance(catalogue.model("bloom-176b"), Model)
    assert catalogue.model("bloom-176b").tied_embeddings
    assert not catalogue.model("bloom-176b").gated_mlp


@pytest.mark.parametrize(
    ("accelerator_id", "mib"),
    [
        ("a100-80gb", 81920),
        ("h100-80gb", 81559),
        ("h200-141gb", 143771),
        ("b200-180gb", 183359),
        ("gb200-192gb", 189471),
        ("l40s-48gb", 46068),
    ],
)
def test_memory_is_what_the_driver_reports(accelerator_id: str, mib: int) -> None:
    assert catalogue.accelerator(accelerator_id).memory_bytes == mib * MIB


def test_networks_are_one_direction_of_one_accelerator() -> None:
    assert 8 * catalogue.machine("dgx-a100").nic_bytes_per_s == 200e9
    assert 8 * catalogue.machine("dgx-h100").nic_bytes_per_s == 400e9


def test_fabrics_are_one_direction_of_one_port() -> None:
    ndr = catalogue.fabric("infiniband-ndr")
    assert ndr.bytes_per_s == catalogue.machine("dgx-h100").nic_bytes_per_s
    assert ndr.achieved_bytes_per_s() == 0.95 * 50e9
    assert ndr.usd_per_port == Decimal(2000)
    for fabric_id in catalogue.fabric_ids():
        one = catalogue.fabric(fabric_id)
        assert decode(Fabric, json.loads(json.dumps(encode(one)))) == one


def test_the_capped_machine_is_the_papers_assumption() -> None:
    plain, capped = catalogue.machine("dgx-h100"), catalogue.machine("dgx-h100-pcap")
    assert capped.provisioned() == pytest.approx(0.7 * plain.provisioned())
    assert capped.prefill_slowdown == 1.3
    statuses = {f.field: f.status for f in catalogue.figures("machines") if f.id == "dgx-h100-pcap"}
    assert statuses["prefill_slowdown"] == statuses["power_cap_w"] == statuses["nameplate_w"] == "assumption"


def test_prices_are_decimal_dated_and_sourced() -> None:
    book = catalogue.price_book("list")
    assert book.price("dgx-h100").usd_per_hour == Decimal("36.00")
    assert {price.machine for price in book.prices} >= {"dgx-a100", "dgx-h100", "dgx-h200", "dgx-b200", "amd-mi300x"}
    assert {p.machine for one in catalogue.price_books().values() for p in one.prices} <= set(catalogue.machine_ids())
    for price in (price for one in catalogue.price_books().values() for price in one.prices):
        assert isinstance(price.usd_per_hour, Decimal)
        assert price.currency == "USD"
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", price.date)
        assert price.source
    splitwise = catalogue.price_book("splitwise-2023")
    assert [splitwise.price(m).usd_per_hour for m in ("dgx-a100", "dgx-h100")] == [Decimal("17.68"), Decimal("38.08")]


def test_what_is_unknown_is_named_with_the_nearest() -> None:
    for call, words in (
        (lambda: catalogue.machine("dgx-h10"), "machine: found 'dgx-h10', .*nearest: 'dgx-h100'"),
        (lambda: catalogue.model("bloom"), "model: found 'bloom', .*nearest: 'bloom-176b'"),
        (lambda: catalogue.accelerator("h100"), "nearest: 'h100-80gb'"),
        (lambda: catalogue.price_book("lists"), "nearest: 'list'"),
        (lambda: catalogue.price_book("splitwise-2023").price("dgx-b200"), "has no price for 'dgx-b200'"),
        (lambda: catalogue.fabric("infiniband"), "nearest: 'infiniband-"),
        (lambda: catalogue.figures("model"), "nearest: 'models'"),
    ):
        with pytest.raises(SpecError, match=words):
            call()


def test_inline_objects_resolve_to_themselves() -> None:
    box = dataclasses.replace(catalogue.machine("dgx-h100"), id="mine", accelerator=catalogue.accelerator("h200-141gb"))
    assert catalogue.resolve_machine(box) is box
    assert catalogue.resolve_accelerator(box).id == "h200-141gb"
    assert catalogue.resolve_machine("dgx-h100") == catalogue.machine("dgx-h100")
    assert catalogue.resolve_model(catalogue.model("qwen3-32b")).id == "qwen3-32b"


def test_a_row_is_built_from_its_figures_as_text() -> None:
    fields = {f.field: f.value for f in catalogue.figures("machines") if f.id == "dgx-a100"}
    assert catalogue.build(Machine, "dgx-a100", fields) == catalogue.machine("dgx-a100")
    for change, words in (
        ({"host_w": "much"}, "dgx-a100.host_w: found 'much', expected a finite number"),
        ({"accelerators": "8.5"}, "dgx-a100.accelerators: found '8.5', expected a whole number"),
        ({"hosts_w": "1"}, "dgx-a100.hosts_w: unknown key, .*nearest: 'host_w'"),
    ):
        with pytest.raises(SpecError, match=words):
            catalogue.build(Machine, "dgx-a100", {**fields, **change})


@pytest.mark.parametrize("cls", [Accelerator, Machine, Model, Fabric])
def test_the_docs_list_every_column_of_an_inline_object(cls: type[Accelerator | Machine | Model | Fabric]) -> None:
    text = (Path(__file__).parents[3] / "docs" / "catalogue.md").read_text(encoding="utf-8")
    heading = "## A fabric" if cls is Fabric else f"## An inline {cls.__name__.lower()}"
    section = text.split(heading)[1].split("##")[0]
    for field in dataclasses.fields(cls):
        required = "yes" if field.default is dataclasses.MISSING else ""
        assert re.search(rf"\| `{field.name}` \| [^|]+ \| {required} \|", section), field.name


def test_the_docs_example_is_a_machine() -> None:
    text = (Path(__file__).parents[3] / "docs" / "catalogue.md").read_text(encoding="utf-8")
    example = json.loads("{" + text.split("```json")[1].split("```")[0] + "}")
    assert decode(Machine, example["machine"]).accelerators == 4


def test_the_docs_models_are_rows_of_the_catalogue() -> None:
    text = (Path(__file__).parents[3] / "docs" / "catalogue.md").read_text(encoding="utf-8")
    examples = [json.loads("{" + part.split("```")[0] + "}")["model"] for part in text.split("```json")[2:]]
    for example, model_id in zip(examples, ("gpt-oss-120b", "deepseek-v3"), strict=True):
        ours, row = decode(Model, example), catalogue.model(model_id)
        assert dataclasses.replace(ours, id=row.id, name=row.name, v_head_dim=row.v_head_dim) == row


def test_names_of_machines_stand_in_a_sentence_after_a_count():
    """``Buy 2 MI300X x8``, not ``Buy 2 8 x MI300X``; a comma would end what is listed."""
    for machine_id in catalogue.machine_ids():
        name = catalogue.machine(machine_id).name
        assert not name[0].isdigit(), name
        assert "," not in name, name
