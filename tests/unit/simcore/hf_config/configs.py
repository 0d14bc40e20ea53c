"""What the ``config.json`` of public models says, key by key as far as it decides shapes, and the total of parameters
that their weight files have, as their pages list it.
"""

from typing import Any

Config = dict[str, Any]


def _llama(
    hidden: int, layers: int, heads: int, kv_heads: int, feed_forward: int, vocabulary: int, **more: Any
) -> Config:
    return {
        "model_type": "llama",
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": feed_forward,
        "vocab_size": vocabulary,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        **more,
    }


LLAMA_3_ROPE = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}
LLAMA_3 = {"max_position_embeddings": 131072, "rope_scaling": LLAMA_3_ROPE}
QWEN_2 = {"model_type": "qwen2", "use_sliding_window": False, "max_position_embeddings": 32768}
QWEN_3 = {"model_type": "qwen3", "head_dim": 128, "max_position_embeddings": 40960, "attention_bias": False}
QWEN_3_MOE = {**QWEN_3, "model_type": "qwen3_moe", "decoder_sparse_step": 1, "mlp_only_layers": [], "num_experts": 128}
QWEN_3_MOE |= {"num_experts_per_tok": 8, "norm_topk_prob": True}
GPT_OSS = _llama(2880, 24, 64, 8, 2880, 201088, model_type="gpt_oss", head_dim=64, attention_bias=True) | {
    "max_position_embeddings": 131072,
    "sliding_window": 128,
    "num_experts_per_tok": 4,
    "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096},
    "quantization_config": {"quant_method": "mxfp4"},
}
DEEPSEEK_V3 = _llama(7168, 61, 128, 128, 18432, 129280, model_type="deepseek_v3") | {
    "max_position_embeddings": 163840,
    "rope_scaling": {"type": "yarn", "factor": 40, "original_max_position_embeddings": 4096},
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "moe_intermediate_size": 2048,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "moe_layer_freq": 1,
    "topk_method": "noaux_tc",
    "num_nextn_predict_layers": 1,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
}
FALCON_180B = {
    "model_type": "falcon",
    "hidden_size": 14848,
    "num_hidden_layers": 80,
    "num_attention_heads": 232,
    "num_kv_heads": 8,
    "vocab_size": 65024,
    "parallel_attn": True,
    "bias": False,
    "multi_query": True,
    "new_decoder_architecture": True,
}
BLOOM = {"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880}

SHIPPED: dict[str, Config] = {
    "bloom-176b": BLOOM | {"seq_length": 2048},
    "llama2-7b": _llama(4096, 32, 32, 32, 11008, 32000, max_position_embeddings=4096),
    "llama2-70b": _llama(8192, 80, 64, 8, 28672, 32000, max_position_embeddings=4096),
    "llama-3.1-8b": _llama(4096, 32, 32, 8, 14336, 128256, **LLAMA_3),
    "llama-3.1-70b": _llama(8192, 80, 64, 8, 28672, 128256, **LLAMA_3),
    "llama-3.1-405b": _llama(16384, 126, 128, 8, 53248, 128256, **LLAMA_3),
    "mistral-7b": _llama(4096, 32, 32, 8, 14336, 32000, model_type="mistral", max_position_embeddings=32768)
    | {"sliding_window": None},
    "yi-34b": _llama(7168, 60, 56, 8, 20480, 64000, max_position_embeddings=4096),
    "falcon-180b": FALCON_180B,
    "qwen3-32b": _llama(5120, 64, 64, 8, 25600, 151936) | QWEN_3,
    "mixtral-8x7b": _llama(4096, 32, 32, 8, 14336, 32000, model_type="mixtral", max_position_embeddings=32768)
    | {"num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": None},
    "qwen3-30b-a3b": _llama(2048, 48, 32, 4, 6144, 151936) | QWEN_3_MOE | {"moe_intermediate_size": 768},
    "qwen3-235b-a22b": _llama(4096, 94, 64, 4, 12288, 151936) | QWEN_3_MOE | {"moe_intermediate_size": 1536},
    "gpt-oss-20b": GPT_OSS | {"num_local_experts": 32, "layer_types": ["sliding_attention", "full_attention"] * 12},
    "gpt-oss-120b": GPT_OSS
    | {"num_hidden_layers": 36, "num_local_experts": 128}
    | {"layer_types": ["sliding_attention", "full_attention"] * 18},
    "deepseek-v3": DEEPSEEK_V3,
}
"""By catalogue id."""

PUBLISHED: dict[str, tuple[int, Config]] = {
    "Llama 3.2 1B": (
        1_235_814_400,
        _llama(2048, 16, 32, 8, 8192, 128256, **LLAMA_3) | {"head_dim": 64, "tie_word_embeddings": True},
    ),
    "Llama 3.2 3B": (3_212_749_824, _llama(3072, 28, 24, 8, 8192, 128256, **LLAMA_3) | {"tie_word_embeddings": True}),
    "Qwen2.5 7B": (7_615_616_512, _llama(3584, 28, 28, 4, 18944, 152064) | QWEN_2),
    "Qwen2.5 72B": (72_706_203_648, _llama(8192, 80, 64, 8, 29568, 152064) | QWEN_2),
    "Qwen3 4B": (4_022_468_096, _llama(2560, 36, 32, 8, 9728, 151936) | QWEN_3 | {"tie_word_embeddings": True}),
    "Qwen3 8B": (8_190_735_360, _llama(4096, 36, 32, 8, 12288, 151936) | QWEN_3),
    "Qwen3 14B": (14_768_307_200, _llama(5120, 40, 40, 8, 17408, 151936) | QWEN_3),
    "Gemma 7B": (
        8_537_680_896,
        _llama(3072, 28, 16, 16, 24576, 256000, model_type="gemma", head_dim=256, max_position_embeddings=8192)
        | {"tie_word_embeddings": True},
    ),
    "Gemma 2 9B": (
        9_241_705_984,
        _llama(3584, 42, 16, 8, 14336, 256000, model_type="gemma2", head_dim=256, max_position_embeddings=8192)
        | {"tie_word_embeddings": True, "sliding_window": 4096},
    ),
    "Phi 3 mini": (
        3_821_079_552,
        _llama(3072, 32, 32, 32, 8192, 32064, model_type="phi3", max_position_embeddings=4096)
        | {"sliding_window": 2047},
    ),
    "Phi 2 2.7B": (
        2_779_683_840,
        _llama(2560, 32, 32, 32, 10240, 51200, model_type="phi", max_position_embeddings=2048),
    ),
    "Falcon 7B": (
        7_217_189_760,
        FALCON_180B
        | {"hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71, "new_decoder_architecture": False}
        | {"num_kv_heads": 71},
    ),
    "Mixtral 8x22B": (
        140_620_634_112,
        _llama(6144, 56, 48, 8, 16384, 32000, model_type="mixtral", max_position_embeddings=65536)
        | {"num_local_experts": 8, "num_experts_per_tok": 2},
    ),
    "Kimi K2": (
        1_026_408_232_448,
        DEEPSEEK_V3
        | {"model_type": "kimi_k2", "num_attention_heads": 64, "num_key_value_heads": 64, "n_routed_experts": 384}
        | {"first_k_dense_replace": 1, "vocab_size": 163840, "max_position_embeddings": 131072}
        | {"rope_scaling": {"type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}},
    ),
    "OPT 6.7B": (
        6_658_473_984,
        {"model_type": "opt", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
        | {"ffn_dim": 16384, "vocab_size": 50272, "max_position_embeddings": 2048, "do_layer_norm_before": True},
    ),
    "GPT-2 124M": (
        124_439_808,
        {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257, "n_positions": 1024},
    ),
    "StarCoder2 15B": (
        15_957_889_024,
        _llama(6144, 40, 48, 4, 24576, 49152, model_type="starcoder2", max_position_embeddings=16384)
        | {"use_bias": True, "sliding_window": 4096},
    ),
    "GPT-NeoX 20B": (
        20_554_567_680,
        _llama(6144, 44, 64, 64, 24576, 50432, model_type="gpt_neox", max_position_embeddings=2048),
    ),
    "GLM 4.5 Air": (
        106_852_245_504,
        _llama(4096, 46, 96, 8, 10944, 151552, model_type="glm4_moe", head_dim=128, max_position_embeddings=131072)
        | {"moe_intermediate_size": 1408, "n_routed_experts": 128, "num_experts_per_tok": 8, "n_shared_experts": 1}
        | {"first_k_dense_replace": 1, "attention_bias": True, "use_qk_norm": False},
    ),
    "MiniMax M2": (
        228_689_764_864,
        _llama(3072, 62, 48, 8, 1536, 200064, model_type="minimax_m2", head_dim=128, max_position_embeddings=196608)
        | {"num_local_experts": 256, "num_experts_per_tok": 8},
    ),
    "Command R 35B": (
        34_980_831_232,
        _llama(8192, 40, 64, 64, 22528, 256000, model_type="cohere", max_position_embeddings=8192)
        | {"tie_word_embeddings": True},
    ),
    "Qwen1.5 MoE": (
        14_315_784_192,
        _llama(2048, 24, 16, 16, 5632, 151936, model_type="qwen2_moe", max_position_embeddings=8192)
        | {"moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60}
        | {"num_experts_per_tok": 4, "decoder_sparse_step": 1},
    ),
}
"""By name."""
