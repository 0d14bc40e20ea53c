"""The fields under Advanced: each has a default, and what it is from stands in sources.py."""

from typing import Any

from django import forms

from planner.scenarios import quantities as units
from planner.scenarios import weeks
from planner.scenarios.by_machine import ByMachineField
from planner.scenarios.fields import (
    BudgetField,
    BudgetsField,
    CountsField,
    DegreesField,
    PickField,
    PickSeveralField,
    QuantityField,
)
from simcore.spec import DEFAULT_PUE, MemorySpec
from simcore.spec.study import MOST_FAILURES

ARRIVALS = [
    ("trace", "the trace's, time compressed"),
    ("poisson", "Poisson"),
    ("superpose", "the trace's, shifted copies added"),
]
TRANSFERS = [
    ("layerwise", "layer by layer"),
    ("serialized", "after prefill, whole"),
    ("chunkwise", "chunk by chunk, prompts chunked beside decodes"),
]
CONTENTION = [("yes", "one after another"), ("no", "all at once, each at the full bandwidth")]
SIZES = [
    ("median", "the capacity that was simulated"),
    ("lower_bound", "its 90 % interval's lower bound"),
]
HELD_EQUAL = [
    ("", "cost, or as chosen beside the answer"),
    ("rate", "rate"),
    ("cost", "cost"),
    ("power", "power"),
    ("machines", "number of machines"),
]
COUNTS_TRIED = [
    ("search", "a few, then around the rate"),
    ("every", "every one that matters"),
]
OWN = ("", "as in the catalogue")
WEIGHTS = [OWN, ("bf16", "bf16"), ("fp8", "fp8"), ("fp4", "fp4"), ("mxfp4", "mxfp4")]
KV = [OWN, ("bf16", "bf16"), ("fp8", "fp8")]
RESERVATIONS = [
    ("", "each scheduler's own"),
    ("on_demand", "as tokens appear"),
    ("full_output", "prompt and output, at admission"),
    ("output_at_decode", "the output, when its decode starts"),
    ("max_length", "the longest request, at admission"),
]
COUNT = "a whole number from 1 up, such as 512 or 2k"
MOST_SEEDS = 16


def count_field(label: str, **options: Any) -> QuantityField:
    bounds = {"least": 1, "most": 10_000_000, "whole": True, "required": False, "label": label}
    return QuantityField(COUNT, units.PLAIN, **{**bounds, **options})


def share_field(label: str, example: str, **options: Any) -> QuantityField:
    expected = f"a share from 0 to 1, such as {example}"
    return QuantityField(expected, units.SHARE, **{"least": 0, "most": 1, "required": False, "label": label, **options})


class AdvancedForm(forms.Form):
    arrivals = PickField(choices=ARRIVALS, required=False, initial="trace", label="Arrivals at another rate")
    seed = QuantityField(
        "a whole number from 0 up", units.PLAIN, least=0, most=2**31 - 1, whole=True, required=False, initial=0
    )
    growth_percent = QuantityField(
        "a percentage a month above -100, such as 4 or 4 %",
        units.PERCENT,
        least=-99,
        most=1000,
        required=False,
        label="Growth a month",
    )
    week_shape = PickField(choices=weeks.CHOICES, required=False, initial="", label="Over the week")
    replications = count_field("Seeds to simulate", most=MOST_SEEDS, initial=1)

    families = PickSeveralField(required=False, label="Families")
    on_hand = ByMachineField(count_field("On hand", least=0, most=100_000), label="Machines on hand")
    tensor_parallel = count_field("Tensor parallel", most=1024)
    tensor_parallels = DegreesField(required=False, label="Several tensor parallel degrees")
    pipeline_parallel = count_field("Pipeline stages", most=1024, initial=1)
    decode_tensor_parallel = count_field("Tensor parallel of decode machines", most=1024)
    decode_pipeline_parallel = count_field("Pipeline stages of decode machines", most=1024)

    token_budget = BudgetField(
        f"{COUNT}, or auto",
        units.PLAIN,
        least=1,
        most=10_000_000,
        whole=True,
        required=False,
        label="Token budget",
        widget=forms.TextInput,
    )
    token_budgets = BudgetsField(required=False, label="Several token budgets")
    max_batch_tokens = count_field("Batch tokens at most")
    max_batch_size = count_field("Batch size at most")
    kv_transfer = PickField(choices=TRANSFERS, required=False, initial="layerwise", label="KV transfer")
    fabric = PickField(choices=[], required=False, initial="", label="Network between machines")
    kv_bandwidth_gb_per_s = QuantityField(
        "GB/s above 0, such as 50, 400 GB/s or 200 Gb/s",
        units.GB_PER_S,
        above=0,
        most=1e6,
        required=False,
        label="KV bandwidth between two replicas, GB/s",
    )
    kv_setup_s = QuantityField(
        "seconds from 0 up such as 0.001 or 1 ms",
        units.SECONDS,
        least=0,
        most=86_400,
        required=False,
        label="KV transfer's set-up, s",
    )
    kv_contention = PickField(choices=CONTENTION, required=False, initial="yes", label="KV transfers of one NIC")
    latency = PickField(choices=[], required=False, initial="roofline", label="Iteration times")
    latency_by_machine = ByMachineField(
        PickField(choices=[], required=False), label="Iteration times of single machines"
    )

    power = PickField(choices=[], required=False, initial="catalogue", label="Drawn power")

    weight_precision = PickField(choices=WEIGHTS, required=False, initial="", label="Weights")
    kv_precision = PickField(choices=KV, required=False, initial="", label="KV cache")
    memory_usable = share_field("Memory that is used", "0.9 or 90 %", least=None, above=0, initial=MemorySpec.usable)
    reservation = PickField(choices=RESERVATIONS, required=False, initial="", label="KV is reserved")
    block_tokens = count_field("KV block, tokens", most=65_536, initial=MemorySpec.block_tokens)
    watermark = share_field("KV kept free at admission", "0.01 or 1 %")
    max_model_tokens = count_field("Longest request, tokens")

    usd_per_month = QuantityField(
        "dollars a month (730 h) such as 400k or $418,000", units.USD_PER_MONTH, least=0.01, required=False
    )
    most_machines = count_field("Machines at most")
    racks = count_field("Racks at most", most=100_000)
    failures = QuantityField(
        f"a whole number of machines from 0 to {MOST_FAILURES}",
        units.PLAIN,
        least=0,
        most=MOST_FAILURES,
        whole=True,
        required=False,
        initial=0,
        label="Machines lost at once to survive",
    )
    pue = QuantityField(
        "facility power over the machines', from 1 to 5, such as 1.2",
        units.TIMES,
        least=1,
        most=5,
        required=False,
        initial=DEFAULT_PUE,
        label="PUE",
    )

    hold_equal = PickField(choices=HELD_EQUAL, required=False, initial="", label="Families compared at equal")
    size_to = PickField(choices=SIZES, required=False, initial="median", label="Sized to")
    counts_tried = PickField(choices=COUNTS_TRIED, required=False, initial="search", label="Machine counts to try")
    mixed_counts = CountsField(required=False, label="Co-located counts")
    prefill_counts = CountsField(required=False, label="Prefill counts")
    decode_counts = CountsField(required=False, label="Decode counts")
