"""What each default is, and what it is from: the source with its date. Notes say what a field does."""

from dataclasses import dataclass

SPLITWISE = "Splitwise (Patel et al., ISCA 2024)"
SARATHI = "Sarathi-Serve (Agrawal et al., OSDI 2024)"
OURS = "Phaseplan's own choice, November 2026"
CATALOGUE = "The catalogue's row of it, with its source and date"


@dataclass(frozen=True)
class Source:
    """``default``: in words, where the field is empty by default or its value says little by itself."""

    origin: str
    default: str = ""


NO_LIMIT = Source(f"{OURS}: what you do not limit is not limited.", "no limit")
SEARCHED = Source(f"{OURS}: the search picks counts by bounds and by what it has found.", "what the search picks")

SOURCES = {
    "slo_kind": Source(f"{SPLITWISE}, Table VI: nine limits on the slowdown against a lone request."),
    "goal": Source(f"{OURS}: what most purchases are decided by."),
    "power_kind": Source(f"{OURS}: what a site's limit is mostly written on. {SPLITWISE} compares provisioned power."),
    "power_limit_kw": NO_LIMIT,
    "arrivals": Source(f"{OURS}: it keeps the trace's bursts. {SPLITWISE} and {SARATHI} use Poisson arrivals."),
    "seed": Source(f"{OURS}; any other would do."),
    "growth_percent": Source(f"{OURS}: nobody knows it but you.", "the workload's own, else 5 %, said to be assumed"),
    "week_shape": Source(
        f"{OURS}: a mix's week, or the hours of a trace of a week or more; the shapes are assumptions.",
        "the workload's own, else days of one region",
    ),
    "replications": Source(f"{OURS}: every interval has one run's chance in it; more seeds narrow it."),
    "families": Source(
        f"{SARATHI}; vLLM (Kwon et al., SOSP 2023); {SPLITWISE}.",
        "Sarathi and vLLM V0 on each machine chosen, and every split pair of them",
    ),
    "on_hand": NO_LIMIT,
    "tensor_parallel": Source(
        f"{SPLITWISE} runs a replica on the whole machine; {OURS} to try the fewest as well.",
        "all of a machine's accelerators, and the fewest that the model fits on",
    ),
    "tensor_parallels": Source(f"{OURS}: each more is more to simulate.", "the one above"),
    "pipeline_parallel": Source(f"{SPLITWISE} has one. {SARATHI} runs 70B and 180B in two."),
    "decode_tensor_parallel": Source(f"{SPLITWISE}: the same in both pools.", "as of all machines"),
    "decode_pipeline_parallel": Source(f"{SPLITWISE}: the same in both pools.", "as of all machines"),
    "token_budget": Source(
        f"{SARATHI}, section 5.1: 512 for strict limits, 2048 for relaxed ones. vLLM V1, 2025: 2048.",
        "512 and 2048 for Sarathi, 2048 for vLLM V1",
    ),
    "token_budgets": Source(f"{OURS}.", "the one above"),
    "max_batch_tokens": Source(f"{SPLITWISE}; vLLM V0, 2023.", "2048, or the longest prompt"),
    "max_batch_size": Source(
        f"{SARATHI}: 128, Orca 16; vLLM, 2023: 256; FasterTransformer 8 (memory); {SPLITWISE}'s simulator: 512.",
        "128 Sarathi, 256 vLLM, 16 Orca, 8 FasterTransformer, 512 Splitwise",
    ),
    "kv_transfer": Source(f"{SPLITWISE}: layer by layer, prompts under 512 tokens whole."),
    "fabric": Source(f"{CATALOGUE}: nic_bytes_per_s of each machine."),
    "kv_bandwidth_gb_per_s": Source(
        f"{CATALOGUE}: nic_bytes_per_s of the slower machine, all NICs of a replica together.", "the slower NIC"
    ),
    "kv_setup_s": Source(f"{OURS}: {SPLITWISE} gives no set-up time.", "the network's, else none"),
    "kv_contention": Source(f"{OURS}: a NIC sends and receives one transfer at a time."),
    "latency": Source(
        "Phaseplan's roofline, fitted to measured steps of seven accelerators (docs/validation.md, November 2026)."
    ),
    "latency_by_machine": Source(f"{OURS}: one source for all machines compares them alike.", "as above"),
    "power": Source(f"{CATALOGUE}; fitted to measured watts (docs/power-fit.md)."),
    "weight_precision": Source(f"{CATALOGUE}: weight_precision.", "as in the catalogue"),
    "kv_precision": Source(f"{CATALOGUE}: kv_precision.", "as in the catalogue"),
    "memory_usable": Source("vLLM's gpu_memory_utilization, 2023 to 2025."),
    "reservation": Source(
        f"vLLM (SOSP 2023) and {SARATHI}: as tokens appear; Orca (OSDI 2022): the longest; {SPLITWISE}: when decode"
        " starts.",
        "each scheduler's own",
    ),
    "block_tokens": Source("vLLM (Kwon et al., SOSP 2023)."),
    "watermark": Source("vLLM V0, 2023: 0.01; V1, 2025: none.", "0.01 Sarathi and vLLM V0, else none"),
    "max_model_tokens": Source(
        f"{SPLITWISE} has BLOOM-176B take prompts beyond its 2048 tokens; the preview names such a workload.",
        "what a replica's KV memory holds",
    ),
    "usd_per_month": NO_LIMIT,
    "most_machines": NO_LIMIT,
    "racks": NO_LIMIT,
    "failures": Source(f"{OURS}: the section “Loss of a machine or a rack” says what the answer holds without some."),
    "pue": Source("Uptime Institute's survey of data centres, 2025: the mean. Large new ones reach 1.1 to 1.2."),
    "slowdown_multiplier": Source(f"{SPLITWISE}, Table VI as it is."),
    "slowdown_reference": Source(f"{SPLITWISE}, Table VI: the same request alone on a DGX-A100."),
    "percentiles": Source(
        f"{SARATHI}, section 5.1: P99 of time between tokens, the median of scheduling delay; {OURS} for the others.",
        "P99, of scheduling delay P50",
    ),
    "attainment_share": Source("MLPerf Inference, Server and Interactive scenarios: the 99th percentile of both."),
    "hold_equal": Source(f"{OURS}: {SPLITWISE} compares at equal power, cost and throughput."),
    "size_to": Source(f"{OURS}: the answer says what holding the rate at the lower bound would cost."),
    "counts_tried": Source(f"{OURS} (docs/decisions/0013-pruning-by-proof.md)."),
    "mixed_counts": SEARCHED,
    "prefill_counts": SEARCHED,
    "decode_counts": SEARCHED,
}

NOTES = {
    "arrivals": "How the trace reaches another rate. Poisson keeps its lengths only.",
    "seed": "Same seed, same bits.",
    "growth_percent": "It moves no design: the section “What breaks first as traffic grows” reads it.",
    "week_shape": "It moves no design: the section “A week, hour by hour” reads it. The rate asked for is that of the"
    " busiest hour.",
    "replications": "Designs that are close to the answer run again under each further seed.",
    "families": "None ticked: the default.",
    "on_hand": "How many of each may be used at most.",
    "tensor_parallel": "Accelerators that share each layer of a replica.",
    "tensor_parallels": "Such as 1, 2, 4, 8: each is tried, in place of the one above; split, each of prefill with each"
    " of decode.",
    "pipeline_parallel": "Stages that a replica's layers are spread over; a step-time table knows one alone.",
    "token_budget": "Tokens of an iteration. auto: the largest within the TBT limit.",
    "token_budgets": "Such as 128, 512, 2048: each is tried, in place of the one above.",
    "max_batch_tokens": "Of a batch of whole prompts (vLLM V0, Splitwise).",
    "max_batch_size": "Requests that a replica runs at once.",
    "kv_transfer": "Chunk by chunk is not in the paper.",
    "fabric": "Its bytes/s stand for the machines' own, its set-up time is once for each transfer.",
    "kv_bandwidth_gb_per_s": "In place of all NICs of a replica together. GB/s or Gb/s: 400 Gb/s are 50 GB/s.",
    "latency": "Roofline takes any model and machine; measured has BLOOM-176B and Llama-2-70B only; a calibration is of"
    " its accelerator, other machines take the roofline that it began from.",
    "latency_by_machine": "Where measurements differ by machine. Designs are then compared across sources.",
    "weight_precision": "Of all weights. What the accelerator has no arithmetic for is computed in bf16.",
    "kv_precision": "fp8 halves what a token keeps.",
    "memory_usable": "Of what the driver reports; the rest is the engine's own.",
    "watermark": "A share of a replica's KV blocks.",
    "max_model_tokens": "Prompt and output together; a longer request is refused, and counts as missed.",
    "usd_per_month": "A month is 730 h.",
    "most_machines": "Of all kinds together.",
    "racks": "Of machines whose rack is known.",
    "failures": "Whichever they are, what is left holds the rate: N+1, N+2, … The limits above are of all machines.",
    "power": "A power log's figures are of its accelerator; other machines keep the catalogue's.",
    "pue": "Facility power over that of the machines; it multiplies mean drawn power alone.",
    "slowdown_multiplier": "Above 1: looser.",
    "slowdown_reference": "As it is shipped, whatever a team overrides; batch 1, memory fit ignored.",
    "size_to": "The interval joins chance in the simulation and the error of iteration times (docs/uncertainty.md).",
    "hold_equal": "It moves no design: the comparison beside the answer opens on it, and the API's answer has it.",
    "counts_tried": "Every: co-located, each count; split, beside each prefill count as many decode machines as fit."
    " What another design beats by proof is not simulated.",
    "mixed_counts": "Such as 10, 20-40/5.",
    "prefill_counts": "Such as 10, 20-40/5.",
    "decode_counts": "Such as 10, 20-40/5.",
}
