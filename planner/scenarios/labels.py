"""What each input is called, and in which unit it is."""

from planner.scenarios.forms import LIMITED, QuestionForm

LABELS = {
    "slowdown_multiplier": "Slowdown limits, times",
    "slowdown_reference": "Slowdown relative to a lone request on",
    "usd_per_month": "Budget, $ a month",
    "power_limit_kw": "Power limit, kW",
    "tbt_limit_x_decode": "Time between tokens, decode iterations",
    "attainment_share": "Share of all requests",
    "seed": "Seed",
}
"""Where the form's own label stands beside its field without a unit, or there is none."""

UNITS = {
    "rate_req_per_s": "requests/s",
    "growth_percent": "%",
    "power_limit_kw": "kW",
    "usd_per_month": "$ a month",
    "slowdown_multiplier": "×",
    "tbt_limit_x_decode": "decode iterations",
    "token_budget": "tokens",
    "token_budgets": "tokens",
    "max_batch_tokens": "tokens",
    "max_batch_size": "requests",
    **dict.fromkeys(("tensor_parallel", "tensor_parallels", "decode_tensor_parallel"), "accelerators"),
    **dict.fromkeys(("pipeline_parallel", "decode_pipeline_parallel"), "stages"),
    "kv_bandwidth_gb_per_s": "GB/s",
    "kv_setup_s": "s",
    "block_tokens": "tokens",
    "max_model_tokens": "tokens",
    "racks": "racks",
    "mixed_counts": "machines",
    "prefill_counts": "machines",
    "decode_counts": "machines",
    "most_machines": "machines",
    "failures": "machines",
    "attainment_ttft_s": "s",
    "attainment_tpot_s": "s",
    **{f"{metric}_limit_s": "s" for metric in LIMITED},
}
"""Of the inputs that have one."""


def label_of(name: str) -> str:
    """``Power limit, kW``: as beside its field."""
    return LABELS.get(name) or str(QuestionForm.base_fields[name].label or name)


SHORT = {"rate_req_per_s": "rate", "goal": "for the"}
"""Where a sentence calls an input otherwise than its field is labelled."""


def bare_label(name: str) -> str:
    """``power limit``: as in a sentence that names the unit after the number."""
    if name in SHORT:
        return SHORT[name]
    label = label_of(name).partition(",")[0]
    return label if label[:2].isupper() else label[:1].lower() + label[1:]
