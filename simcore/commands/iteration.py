"""``iteration CASE.json``: the time of one batch on the first pool."""

from __future__ import annotations

import argparse

from simcore.catalogue import resolve_machine, resolve_model
from simcore.commands.files import naming, read_case, write_json
from simcore.commands.numbers import chunks, contexts
from simcore.latency.compile import compile_curve, iteration_parts
from simcore.latency.evidence import evidence


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("iteration", help="time of one batch on the case's first pool")
    parser.add_argument("case", metavar="CASE.json")
    parser.add_argument(
        "--prefill", type=chunks, default=[], metavar="512,256@4096", help="new tokens [@ cached tokens]"
    )
    parser.add_argument("--decode-contexts", type=contexts, default=[], metavar="1000,2000", help="cached tokens")
    parser.set_defaults(run=iteration)


def iteration(arguments: argparse.Namespace) -> None:
    """Write the batch's time and its parts to standard output."""
    case = read_case(arguments.case)
    with naming(arguments.case):
        pool = case.pools[0]
        model, machine, latency = resolve_model(case.model), resolve_machine(pool.machine), pool.latency or case.latency
        curve = compile_curve(model, machine, pool.tensor_parallel, pool.pipeline_parallel, latency)
        figures = iteration_parts(curve, arguments.prefill, arguments.decode_contexts)
        figures["evidence"] = evidence(model, machine, pool.tensor_parallel, latency, curve)
    write_json(None, through_stages(figures, pool.pipeline_parallel))


def through_stages(figures: dict[str, object], stages: int) -> dict[str, object]:
    """One stage's figures as those of the batch's way through all pipeline stages, one after the other."""
    if stages == 1:
        return figures
    scaled = {
        "iteration_s": float(str(figures["iteration_s"])) * stages,
        "parts": {name: value * stages for name, value in dict(figures["parts"]).items()},  # type: ignore[call-overload]
    }
    return {**figures, **scaled, "stages": stages, "stage_s": figures["iteration_s"]}
