"""What a family of models has that its ``config.json`` does not mention: from the public modelling code of each, as of
transformers 4.57 (October 2025).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from simcore.hf_config.keys import Config
from simcore.spec import SpecError


@dataclass(frozen=True)
class Family:
    """Defaults are Llama's: gated feed-forward, two RMS norms a layer, no biases, an LM head of its own."""

    gated_mlp: bool = True
    tied_embeddings: bool = False
    """Where the file does not say."""
    layer_norms: int = 2
    """Norms of the hidden size in each layer."""
    norm_bias: bool = False
    """LayerNorm: a weight and a bias."""
    query_bias: bool = False
    """Biases of queries, keys and values, where the file does not say."""
    output_bias: bool = False
    mlp_bias: bool = False
    head_norms: str = ""
    """Norms of queries and keys: ``head`` over one head, ``all`` over all heads."""
    positions: int = 0
    """Learned positions: the model's longest context and so many more (OPT has 2); 0 for none, -1 for exactly it."""
    embedding_norms: int = 0
    head_bias: bool = False
    """The LM head has a bias."""
    expert_bias: bool = False
    router_bias: bool = False
    attention_sinks: bool = False
    """One learned logit a head."""
    shared_gate: bool = False
    """The shared expert's output is gated: one more hidden-size vector a layer."""
    windowed_of: int = 0
    """Every layer but each so-manieth is windowed, where the file lists no ``layer_types``; 0: see the file; 1: all."""
    max_model_tokens: int | None = None
    """The class's own, where the file does not say."""
    intermediate_x_hidden: int | None = None
    """The feed-forward's size over the hidden size, where the file does not say."""


LLAMA = Family()
GPT = Family(gated_mlp=False, norm_bias=True, query_bias=True, output_bias=True, mlp_bias=True, intermediate_x_hidden=4)
FALCON = Family(gated_mlp=False, norm_bias=True, max_model_tokens=2048, intermediate_x_hidden=4)
GEMMA = Family(tied_embeddings=True)
COHERE = Family(tied_embeddings=True, layer_norms=1)
QWEN3 = Family(head_norms="head")
DEEPSEEK = Family()
FAMILIES = {
    **dict.fromkeys(("llama", "mistral", "mistral3", "ministral", "mixtral", "granite", "seed_oss", "minicpm"), LLAMA),
    **dict.fromkeys(("phi3", "baichuan", "internlm2", "internlm3", "yi", "llama4_text", "exaone", "arcee"), LLAMA),
    "qwen2": Family(query_bias=True),
    "qwen2_moe": Family(query_bias=True, shared_gate=True),
    **dict.fromkeys(("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text"), Family(query_bias=True)),
    **dict.fromkeys(("qwen3", "qwen3_moe", "qwen3_vl_text", "qwen3_vl_moe_text"), QWEN3),
    "gpt_oss": Family(
        query_bias=True, output_bias=True, expert_bias=True, router_bias=True, attention_sinks=True, windowed_of=2
    ),
    **dict.fromkeys(("deepseek_v2", "deepseek_v3", "kimi_k2"), DEEPSEEK),
    "glm4": Family(layer_norms=4),
    **dict.fromkeys(("glm", "glm4_moe"), LLAMA),
    "gemma": GEMMA,
    "gemma2": replace(GEMMA, layer_norms=4, windowed_of=2),
    **dict.fromkeys(("gemma3", "gemma3_text"), replace(GEMMA, layer_norms=4, head_norms="head", windowed_of=6)),
    "cohere": COHERE,
    "cohere2": replace(COHERE, windowed_of=4),
    **dict.fromkeys(("olmo2", "olmo3"), Family(head_norms="all")),
    **dict.fromkeys(("olmoe", "minimax_m2"), Family(head_norms="all")),
    "bloom": replace(GPT, tied_embeddings=True, embedding_norms=1, max_model_tokens=2048),
    **dict.fromkeys(("falcon", "RefinedWeb", "RefinedWebModel"), FALCON),
    "opt": replace(GPT, tied_embeddings=True, positions=2),
    "gpt2": replace(GPT, tied_embeddings=True, positions=-1),
    "gpt_bigcode": replace(GPT, tied_embeddings=True, positions=-1),
    "gpt_neox": GPT,
    "phi": replace(GPT, layer_norms=1, head_bias=True),
    "starcoder2": GPT,
    "nemotron": Family(gated_mlp=False, norm_bias=True),
    "stablelm": Family(norm_bias=True),
}
NOT_DECODERS = {"bert", "roberta", "t5", "mt5", "bart", "whisper", "clip", "vit", "xlm-roberta", "mbart", "deberta-v2"}
STATE_SPACE = {
    *("mamba", "mamba2", "falcon_mamba", "jamba", "bamba", "zamba", "zamba2", "rwkv", "falcon_h1", "nemotron_h"),
    *("qwen3_next", "granitemoehybrid", "recurrent_gemma", "minimax", "lfm2", "kimi_linear", "plamo2"),
}


def family_of(config: Config) -> Family:
    """The family by ``model_type``; an unknown one is taken as Llama's, and a note says so.

    SpecError for what no attention over a growing context describes: encoders, and layers with a state instead.
    """
    name = config.model_type
    if name in NOT_DECODERS or config.flag("is_encoder_decoder"):
        config.refuse("model_type", name, "a decoder that generates text")
    if name in STATE_SPACE or any(key in config.values for key in ("ssm_cfg", "mamba_d_state", "linear_attn_config")):
        config.refuse("model_type", name, "attention in every layer: state-space and linear layers are not modelled")
    if name in FAMILIES:
        return _told(config, FAMILIES[name])
    if not name:
        config.notes.append("it names no model_type: taken as Llama's form, small parts may be missing in the count")
    else:
        config.notes.append(f"model_type '{name}' is not known: taken as Llama's form, small parts may be missing")
    return _told(config, LLAMA)


def _told(config: Config, family: Family) -> Family:
    """The family as this file changes it."""
    name = config.model_type
    told = replace(family, tied_embeddings=config.flag("tie_word_embeddings", family.tied_embeddings))
    if name in ("falcon", "RefinedWeb", "RefinedWebModel"):
        return _falcon(config, told)
    if name == "starcoder2":
        biased = config.flag("use_bias", True)
        return replace(told, query_bias=biased, output_bias=biased, mlp_bias=biased)
    if name == "cohere" and config.flag("use_qk_norm"):
        return replace(told, head_norms="all")
    if name == "glm4_moe" and config.flag("use_qk_norm"):
        told = replace(told, head_norms="head")
    if name == "opt" and not config.flag("do_layer_norm_before", True):
        raise SpecError("do_layer_norm_before: found false, expected true: the form of OPT-350M is not modelled")
    if name == "qwen2_moe":
        return replace(told, query_bias=config.flag("qkv_bias", True))
    if "attention_bias" in config.values:
        biased = config.flag("attention_bias")
        only_inputs = name in ("glm", "glm4", "glm4_moe", "seed_oss", "qwen2")
        told = replace(told, query_bias=biased, output_bias=biased and not only_inputs)
    if name == "seed_oss" and "attention_out_bias" in config.values:
        told = replace(told, output_bias=config.flag("attention_out_bias"))
    return replace(told, mlp_bias=config.flag("mlp_bias", told.mlp_bias))


def _falcon(config: Config, family: Family) -> Family:
    """One norm a layer where attention and feed-forward are side by side, two in the newer form."""
    biased, newer = config.flag("bias"), config.flag("new_decoder_architecture")
    norms = config.count("num_ln_in_parallel_attn", 2 if newer else 1) if config.flag("parallel_attn", True) else 2
    return replace(family, layer_norms=norms, query_bias=biased, output_bias=biased, mlp_bias=biased)
