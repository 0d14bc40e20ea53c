"""Compiles the engine, or loads it from the cache, before it is needed: a worker calls this before it forks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core import event

from simcore.engine.fast.cluster import run
from simcore.engine.fast.jit import functions
from simcore.engine.fast.names import KINDS
from simcore.engine.inputs import ClusterInputs, ReplicaInputs, SchedulerInputs, TransferInputs
from simcore.engine.tally.records import TTFT
from simcore.engine.tally.tally import Question, Requested, tally
from simcore.latency.curve import IterationCurve

Progress = Callable[[int, int], None]
"""How many functions are compiled, of how many; never called where the cache has the engine."""


def warm_up() -> None:
    """One request under each kind. A quarter of a CPU-minute where the cache lacks this engine, a second where it does
    not. The result stays in this process and its children."""
    for kind in KINDS:
        inputs = one_request(kind)
        found = run(inputs)
        found.gaps.at_ranks([1])
        tally(inputs, Requested.of(inputs, found), inputs.window, Question({TTFT: (50,)}))


@contextmanager
def compiling_watched(progress: Progress) -> Iterator[None]:
    """While the block runs, say how far compiling is, should it come to that."""
    with event.install_listener("numba:compile", CompiledFunctions(progress)):
        yield


class CompiledFunctions(event.Listener):
    """Counts the engine's functions as numba is done with them, one that it compiles for two kinds of number once."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.waited_for = set(functions)

    def on_start(self, happened: Any) -> None:
        """Compiling begins, of one function or of one that another calls."""
        self.say()

    def on_end(self, happened: Any) -> None:
        """One function is compiled, and all that it calls."""
        self.waited_for.discard(happened.data["dispatcher"].py_func)
        self.say()

    def say(self) -> None:
        """Where it stands."""
        self.progress(len(functions) - len(self.waited_for), len(functions))


def one_request(kind: str) -> ClusterInputs:
    """A prompt of one token and one more token, on a prefill and a decode replica or on two mixed ones."""
    curve = IterationCurve((1,), (1,), (1,), (1,), 0, 0, 0, 0)
    roles = ("prefill", "decode") if kind == "splitwise" else ("mixed", "mixed")
    replicas = tuple(ReplicaInputs(0, role, curve, 1, 16, 1, ((0,), (0,), (0,)), (1,)) for role in roles)
    scheduler = SchedulerInputs(
        kind=kind, token_budget=16, max_batch_tokens=16, max_batch_size=1, block_tokens=16, watermark_blocks_share=0.0,
        reservation="full_output", max_model_tokens=0, mixed_pool=True, chunked=False, prompt_pending_limit=16,
        padded_prompts=False, preempt_when_full=False, pad_compute=False, keep_finished=False, ageing="fair",
        decode_runs="stepwise", simultaneous_arrivals="together", router="jsq", router_ties="index", seed=0,
    )  # fmt: skip
    transfer = TransferInputs("serialized", 0, True, 0, 0, 0, 1)
    one, two, none = np.array([1]), np.array([2]), np.array([0])
    return ClusterInputs(replicas, scheduler, transfer, none, one, two, none, none, (0, 1))
