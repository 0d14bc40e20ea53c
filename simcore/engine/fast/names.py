"""The names of ``SchedulerInputs`` and ``TransferInputs`` as numbers: a name's number is its place in its list."""

from __future__ import annotations

KINDS = ("sarathi", "vllm", "vllm_v1", "orca", "request_level", "splitwise_baseline", "splitwise")
SARATHI, VLLM, VLLM_V1, ORCA, REQUEST_LEVEL, SPLITWISE_BASELINE, SPLITWISE = range(7)

RESERVATIONS = ("on_demand", "full_output", "output_at_decode", "max_length")
ON_DEMAND, FULL_OUTPUT, OUTPUT_AT_DECODE, MAX_LENGTH = range(4)

ROUTERS = ("jsq", "round_robin", "random", "least_kv", "least_waiting")
JSQ, ROUND_ROBIN, RANDOM, LEAST_KV, LEAST_WAITING = range(5)

ROLES = ("mixed", "prefill", "decode")
MIXED_ROLE, PREFILL_ROLE, DECODE_ROLE = range(3)

STATES = ("up", "starting", "draining", "failed")
UP, STARTING, DRAINING, FAILED = range(4)

AGEINGS = ("fair", "none", "splitwise-sim")
FAIR, NO_AGEING, SPLITWISE_SIM = range(3)

DECODE_RUNS = ("stepwise", "contiguous")
STEPWISE, CONTIGUOUS = range(2)

TRANSFER_MODES = ("serialized", "layerwise", "chunkwise")
SERIALIZED, LAYERWISE, CHUNKWISE = range(3)
