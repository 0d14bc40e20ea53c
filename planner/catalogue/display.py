"""Figures as people read them: prefixes instead of powers of ten, both kinds of gigabyte, words for fields."""

from dataclasses import dataclass
from datetime import date

from planner.catalogue.models import Figure, FigureOverride

WORDS = {
    "bf16_flops_per_s": "Peak, bf16 dense",
    "fp8_flops_per_s": "Peak, fp8 dense",
    "fp4_flops_per_s": "Peak, fp4 dense",
    "memory_bytes": "Memory, as the driver reports it",
    "memory_bandwidth_bytes_per_s": "Memory bandwidth",
    "link": "Scale-up link",
    "link_bandwidth_bytes_per_s": "Scale-up link, one direction",
    "tdp_w": "TDP",
    "idle_w": "Idle, with weights loaded",
    "nic_bytes_per_s": "Network of one accelerator, one direction",
    "power_base": "Power at work, whatever the work: of idle to TDP",
    "power_by_mbu": "More at full memory bandwidth",
    "power_by_mfu": "More at full FLOP/s",
    "measured_as": "Measured as",
    "host_w": "Host: CPUs, NICs, switches",
    "fans_w": "Fans, at full load",
    "nameplate_w": "Nameplate power",
    "provisioned_w": "Provisioned power",
    "power_cap_w": "Power cap on each accelerator",
    "prefill_slowdown": "Prefill slowdown",
    "machines_per_rack": "Machines a rack",
    "kv_heads": "KV heads",
    "gated_mlp": "Gated feed-forward",
    "head_dim": "Head size",
    "q_lora_rank": "Query latent",
    "kv_lora_rank": "KV latent, kept a token and layer",
    "qk_rope_head_dim": "Rotary key, kept with the latent",
    "v_head_dim": "Value size",
    "windowed_layers": "Layers with a window",
    "window_tokens": "Window",
    "experts": "Routed experts a layer",
    "experts_per_token": "Experts a token takes",
    "expert_intermediate_size": "Feed-forward of an expert",
    "shared_experts": "Experts that every token takes",
    "dense_layers": "First layers, without experts",
    "expert_precision": "Precision of experts",
    "max_model_tokens": "Longest sequence",
    "kind": "Kind",
    "bytes_per_s": "Line rate of one accelerator's port, one direction",
    "efficiency": "Share of it that a long transfer gets",
    "setup_s": "Set-up of each transfer",
    "usd_per_port": "Switch, cable and optics of a port",
}
PREFIXES = ((1e15, "P"), (1e12, "T"), (1e9, "G"))
COUNTED = ("accelerators", "elements", "experts", "heads", "layers", "machines")
"""Units that the field's name says already."""
STATUS_WORDS = {
    "verified": "carried from the named source",
    "memory": "recalled, not looked up: verify before you rely on it",
    "estimate": "derived, or another tool's constant: not a measurement",
    "assumption": "posited, by a paper or by us: not a measurement",
    "user": "your team's own",
}
NOT_GIVEN = "not given"
MIB = 2**20


@dataclass(frozen=True)
class ShownFigure:
    """One line of a figure table."""

    field: str
    words: str
    text: str
    value: str
    """As stored, in the unit."""
    unit: str
    source: str
    date: str
    status: str
    status_words: str
    own: bool
    """A team's own value."""

    @property
    def is_number(self) -> bool:
        """Whether it stands to the right, as numbers do."""
        return self.value.replace(".", "").replace("e", "").replace("-", "").isdecimal()


def shown(figure: Figure) -> ShownFigure:
    """A figure for a page."""
    return ShownFigure(
        field=figure.field,
        words=words_of(figure.field),
        text=quantity(figure.value, figure.unit),
        value=figure.value,
        unit=figure.unit,
        source=figure.source,
        date=figure.date,
        status=figure.status,
        status_words=STATUS_WORDS[figure.status],
        own=isinstance(figure, FigureOverride),
    )


def words_of(field: str) -> str:
    """A figure's name for people."""
    return WORDS.get(field, field.replace("_", " ").capitalize())


def age(text: str, today: date) -> str:
    """``7 months ago``, of a date such as 2026-04 or 2026-04-27; empty where it is not past or no date."""
    year, _, month = text[:7].partition("-")
    if not (year.isdecimal() and month.isdecimal()):
        return ""
    months = 12 * (today.year - int(year)) + today.month - int(month)
    if months < 1:
        return ""
    return f"{months} months ago" if months > 1 else "a month ago"


def quantity(value: str, unit: str) -> str:
    """``312e12`` FLOP/s as ``312 TFLOP/s``; bytes in GB and MiB; text as it is."""
    try:
        number = float(value)
    except ValueError:
        return {"true": "yes", "false": "no"}.get(value, value)
    if unit == "bytes":
        return f"{number / 1e9:,.1f} GB ({number / MIB:,.0f} MiB)"
    if unit in ("FLOP/s", "bytes/s"):
        return _with_prefix(number, unit)
    if unit == "USD":
        return f"{number:,.10g} USD"
    if unit == "s" and number < 1:
        return f"{number * 1e6:,.4g} µs" if number < 1e-3 else f"{number * 1e3:,.4g} ms"
    if unit == "parameters":
        return f"{number / 1e9:,.2f} billion"
    count = f"{number:,.10g}"
    return count if unit in COUNTED else f"{count} {unit}".strip()


def _with_prefix(number: float, unit: str) -> str:
    short = unit.replace("bytes", "B")
    scale, prefix = next(((s, p) for s, p in PREFIXES if number >= s), (1.0, ""))
    return f"{number / scale:,.4g} {prefix}{short}"
