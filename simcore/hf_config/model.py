"""The ``Model`` that a configuration describes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from simcore.hf_config.experts import Experts, experts_of
from simcore.hf_config.families import Family, family_of
from simcore.hf_config.keys import Config
from simcore.hf_config.parameters import Parameters, count_parameters
from simcore.hf_config.precision import precisions_of
from simcore.hf_config.windows import windows_of
from simcore.spec import Model, SpecError, decode

UNNAMED = "model"
MOST_PARAMETERS = 10**15
MOST_FACTOR = 1e4
"""Of a context's scaling."""


@dataclass(frozen=True)
class Imported:
    """A model out of a ``config.json``."""

    model: Model
    model_type: str
    counted: Parameters
    """Its parameters, part by part."""
    found: dict[str, str]
    """Field → the file's key that gave it."""
    notes: tuple[str, ...]
    """What was assumed or left out, in words."""


@dataclass(frozen=True)
class _Latents:
    """Multi-head latent attention's sizes, or none."""

    attention: str = "gqa"
    q_lora_rank: int | None = None
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None
    v_head_dim: int | None = None


def import_model(config: Config, name: str = "", model_id: str = "") -> Imported:
    """The model of a configuration, under a name (the file's own where it has one and none is given).

    SpecError names the key that is missing or wrong, or what is not modelled.
    """
    family = family_of(config)
    named = name.strip() or _own_name(config)
    model = _model(config, family, named, model_id.strip() or slug(named))
    counted = count_parameters(model, family, config)
    if counted.total > MOST_PARAMETERS:
        raise SpecError(
            f"config.json: found sizes that make {counted.total:.3g} parameters, expected at most {MOST_PARAMETERS:.0e}"
        )
    model = replace(model, parameters=counted.total)
    return Imported(model, config.model_type, counted, dict(config.found), tuple(config.notes))


def slug(name: str) -> str:
    """A catalogue id of a name: ``Llama 3.1 8B`` → ``llama-3.1-8b``."""
    return re.sub(r"[^a-z0-9.]+", "-", name.rsplit("/", 1)[-1].lower()).strip("-.") or UNNAMED


def _own_name(config: Config) -> str:
    name = config.text("_name_or_path").rstrip("/").rsplit("/", 1)[-1]
    return "".join(letter for letter in name if letter.isprintable()).strip() or UNNAMED


def _model(config: Config, family: Family, name: str, model_id: str) -> Model:
    hidden, heads, layers = config.count("hidden_size"), config.count("heads"), config.count("layers")
    experts, latents = experts_of(config, layers), _latents(config)
    longest = _max_model_tokens(config, family)
    windows, precisions = windows_of(config, family, layers, longest), precisions_of(config)
    fields = {
        "id": model_id,
        "name": name,
        "parameters": 1,  # counted from the shapes, once they are known
        "layers": layers,
        "hidden_size": hidden,
        "heads": heads,
        "kv_heads": heads if latents.attention == "mla" else _kv_heads(config, heads),
        "head_dim": _head_dim(config, hidden, heads, latents),
        "intermediate_size": _intermediate_size(config, family, hidden, experts),
        "vocab_size": config.count("vocab_size"),
        "max_model_tokens": longest,
        "gated_mlp": family.gated_mlp,
        "tied_embeddings": family.tied_embeddings,
    }
    parts = (precisions, latents, windows, experts)
    try:
        return decode(Model, fields | {name: value for part in parts for name, value in vars(part).items()})
    except SpecError as error:
        raise SpecError(config.in_its_words(str(error))) from None


def _kv_heads(config: Config, heads: int) -> int:
    if config.flag("multi_query") and not config.flag("new_decoder_architecture"):
        config.found["kv_heads"] = "multi_query"
        return 1
    return config.count("kv_heads", heads)


def _head_dim(config: Config, hidden: int, heads: int, latents: _Latents) -> int:
    if latents.attention == "mla":
        return config.count("qk_nope_head_dim")
    given = config.optional("head_dim")
    if given is None and hidden % heads:
        config.refuse("hidden_size", hidden, f"a multiple of the {heads} heads where head_dim is not given")
    return given or hidden // heads


def _latents(config: Config) -> _Latents:
    if config.optional("kv_lora_rank") is None:
        return _Latents()
    return _Latents(
        "mla",
        config.optional("q_lora_rank"),
        config.count("kv_lora_rank"),
        config.count("qk_rope_head_dim"),
        config.count("v_head_dim"),
    )


def _intermediate_size(config: Config, family: Family, hidden: int, experts: Experts) -> int:
    if config.optional("intermediate_size_mlp") is not None:  # Llama 4's dense layers
        return config.count("intermediate_size_mlp")
    default = family.intermediate_x_hidden and family.intermediate_x_hidden * hidden
    return config.count("intermediate_size", default or experts.expert_intermediate_size)


def _max_model_tokens(config: Config, family: Family) -> int:
    """The longest context: with YaRN, linear or dynamic scaling the trained one times its factor, as in engines."""
    longest = config.count("max_model_tokens", family.max_model_tokens)
    key = "rope_scaling" if config.table("rope_scaling") else "rope_parameters"
    scaling = config.table(key)
    kind = str(scaling.get("rope_type") or scaling.get("type") or "")
    if kind not in ("yarn", "linear", "dynamic") or scaling.get("factor") is None:
        return longest
    factor = _factor(config, f"{key}.factor", scaling["factor"])
    trained = scaling.get("original_max_position_embeddings")
    if kind == "yarn" and isinstance(trained, int) and not isinstance(trained, bool):
        return max(longest, round(trained * factor))
    if kind == "yarn":
        return longest
    config.notes.append(f"rope_scaling {kind} by {factor:g}: {longest:,} positions become {round(longest * factor):,}")
    return round(longest * factor)


def _factor(config: Config, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= MOST_FACTOR:
        config.refuse(key, value, f"a number above 0 and at most {MOST_FACTOR:g}")
    return value
