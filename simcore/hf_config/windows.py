"""Which layers of a configuration see only the last tokens."""

from __future__ import annotations

from dataclasses import dataclass

from simcore.hf_config.families import Family
from simcore.hf_config.keys import Config

FULL, WINDOWED, CHUNKED = "full_attention", "sliding_attention", "chunked_attention"


@dataclass(frozen=True)
class Windows:
    """Fields of ``Model``."""

    windowed_layers: int = 0
    window_tokens: int | None = None


def windows_of(config: Config, family: Family, layers: int, max_model_tokens: int) -> Windows:
    """Windowed layers and their window: from ``layer_types`` where listed, else by the family's pattern.

    A window as long as the longest context is none. Layers that see their own chunk only (Llama 4) are taken as
    windowed by the chunk, which a note says.
    """
    kinds = config.words("layer_types")
    if unknown := sorted({*kinds} - {FULL, WINDOWED, CHUNKED}):
        config.refuse("layer_types", unknown[0], f"{FULL} or {WINDOWED}: other layers are not modelled")
    if kinds and len(kinds) != layers:
        config.refuse("layer_types", f"{len(kinds)} layers", f"the {layers} of num_hidden_layers")
    chunk = config.optional("attention_chunk_size") if CHUNKED in kinds or config.model_type == "llama4_text" else None
    window = chunk or config.optional("sliding_window", least=0) or 0
    if not window or window >= max_model_tokens:
        return Windows()
    if chunk:
        config.notes.append(f"layers that see their chunk of {chunk:,} tokens are taken as windowed by as many")
    windowed = layers - kinds.count(FULL) if kinds else _by_pattern(config, family, layers)
    return Windows(windowed, window) if windowed else Windows()


def _by_pattern(config: Config, family: Family, layers: int) -> int:
    if config.model_type.startswith("qwen"):
        if not config.flag("use_sliding_window"):
            return 0
        return max(layers - config.count("max_window_layers", 0, least=0), 0)
    if config.model_type == "llama4_text":
        full = config.values.get("no_rope_layers")
        return sum(1 for flag in full if flag) if isinstance(full, list) and full else layers - layers // 4
    every = config.optional("sliding_window_pattern") or family.windowed_of
    return layers - layers // every if every > 1 else layers
