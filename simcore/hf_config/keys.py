"""The text of a ``config.json``, and its values under the names that different families give them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from simcore.spec import SpecError
from simcore.spec.decode import shown

MOST_BYTES = 4_000_000
MOST_NUMBER = 10**12
ALIASES = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "hidden_size": ("hidden_size", "n_embd", "n_embed", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv"),
    "intermediate_size": ("intermediate_size", "ffn_hidden_size", "ffn_dim", "n_inner"),
    "max_model_tokens": ("max_position_embeddings", "seq_length", "n_positions", "max_seq_len", "max_sequence_length"),
    "experts": ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"),
    "experts_per_token": ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k"),
    "expert_intermediate_size": ("moe_intermediate_size", "expert_intermediate_size"),
    "shared_experts": ("n_shared_experts", "num_shared_experts"),
    "dense_layers": ("first_k_dense_replace",),
    "weights_dtype": ("torch_dtype", "dtype"),
}
"""Our word → the keys that may hold it, the usual one first."""
NESTED = ("text_config", "llm_config", "language_config", "language_model")
"""Where a model that also sees or hears keeps its decoder."""


@dataclass
class Config:
    """A decoder's configuration. Reading a value notes where it was found; ``notes`` collects what was assumed."""

    values: Mapping[str, Any]
    inside: str = ""
    """The key that held it, where it was nested: ``text_config.``."""
    found: dict[str, str] = field(default_factory=dict)
    """Our word → the key that gave it."""
    notes: list[str] = field(default_factory=list)

    @property
    def model_type(self) -> str:
        """The family's name, as the file has it."""
        name = self.values.get("model_type") or ""
        if not isinstance(name, str) or not name.isprintable():
            self.refuse("model_type", name, "a word such as llama")
        return name

    def count(self, name: str, default: int | None = None, *, least: int = 1) -> int:
        """A whole number under any of its keys; SpecError names the usual key where there is none and no default."""
        value = self.optional(name, least=least)
        if value is not None:
            return value
        if default is not None:
            return default
        keys = _keys(name)
        instead = f" (or {', '.join(keys[1:])})" if keys[1:] else ""
        raise SpecError(f"{self.inside}{keys[0]}{instead}: missing, expected a whole number")

    def optional(self, name: str, *, least: int = 1) -> int | None:
        """The same, or None where the file has none of the keys, or null."""
        for key in _keys(name):
            value = self.values.get(key)
            if value is not None:
                self.found[name] = key
                return self._whole(key, value, least)
        return None

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.refuse(key, value, "true or false")
        return value

    def text(self, name: str) -> str:
        """A word, or the empty string."""
        return next((str(self.values[key]) for key in _keys(name) if self.values.get(key)), "")

    def table(self, key: str) -> Mapping[str, Any]:
        """A nested object, or an empty one."""
        value = self.values.get(key)
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.refuse(key, value, "an object")
        return value

    def words(self, key: str) -> list[str]:
        """A list of words, or an empty one."""
        value = self.values.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
            self.refuse(key, value, "a list of words")
        return value

    def refuse(self, key: str, found: object, expected: str) -> NoReturn:
        """SpecError that names the key."""
        raise SpecError(f"{self.inside}{key}: found {shown(found)}, expected {expected}")

    def in_its_words(self, message: str) -> str:
        """A complaint about a field of ours, which may speak of a second one, with the file's own keys for both."""
        field_name, colon, rest = message.partition(":")
        own = f"{self.inside}{self.found.get(field_name, field_name)}"
        for name, key in self.found.items():
            rest = re.sub(rf"(?<=of ){name}(?= \()|(?<=most ){name}(?= \()", key, rest)
        return f"{own}{colon}{rest}"

    def _whole(self, key: str, value: object, least: int) -> int:
        if isinstance(value, float) and value.is_integer() and abs(value) <= MOST_NUMBER:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_NUMBER:
            self.refuse(key, value, f"a whole number of at least {least} and at most {MOST_NUMBER:.0e}")
        return value


def read_config(text: str | bytes) -> Config:
    """The decoder's configuration in a ``config.json``; SpecError says what is wrong with the text.

    A file of another kind (a tokenizer's, a generation's, an adapter's) is named as such.
    """
    if len(text) > MOST_BYTES:
        raise SpecError(f"config.json: found more than {MOST_BYTES:,} bytes, expected a model's config.json")
    values = _object(text)
    nested = next((key for key in NESTED if isinstance(values.get(key), Mapping)), "")
    if not nested:
        _refuse_other_files(values)
        return Config(values)
    inner = {**{key: values[key] for key in _OUTER if key in values}, **values[nested]}
    config = Config(inner, f"{nested}.")
    config.notes.append(f"only the decoder ({nested}) is served: what sees or hears is not counted")
    return config


_OUTER = ("torch_dtype", "dtype", "quantization_config", "tie_word_embeddings", "_name_or_path")
"""What such a file says once, for the whole model."""


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text.removeprefix("\ufeff")
        values = json.loads(decoded)
    except UnicodeDecodeError:
        raise SpecError("config.json: found bytes that are not UTF-8, expected JSON") from None
    except (json.JSONDecodeError, RecursionError, ValueError) as error:
        where = f" line {error.lineno} column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        found = "JSON that is nested too deeply" if isinstance(error, RecursionError) else "what is not JSON"
        found = found if where or isinstance(error, RecursionError) else "a number of thousands of digits"
        raise SpecError(f"config.json{where}: found {found}, expected a model's config.json") from None
    if not isinstance(values, Mapping):
        raise SpecError(f"config.json: found {shown(values)}, expected an object")
    return values


def _refuse_other_files(values: Mapping[str, Any]) -> None:
    if any(key in values for key in (*ALIASES["layers"], *ALIASES["hidden_size"])):
        return
    kinds = {
        "tokenizer_class": "a tokenizer's",
        "weight_map": "the index of weight files",
        "base_model_name_or_path": "an adapter's",
        "peft_type": "an adapter's",
        "transformers_version": "a generation's",
        "_diffusers_version": "an image model's",
    }
    kind = next((name for key, name in kinds.items() if key in values), "")
    found = f"found {kind} configuration" if kind else f"found no {ALIASES['layers'][0]}"
    raise SpecError(f"config.json: {found}, expected that of a decoder (model_type, num_hidden_layers, hidden_size, …)")


def _keys(name: str) -> tuple[str, ...]:
    return ALIASES.get(name, (name,))
