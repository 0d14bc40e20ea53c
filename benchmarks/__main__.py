"""How fast Phaseplan is, a line of JSON a figure; docs/performance.md says what the figures mean.

python -m benchmarks                          every part but "large"
python -m benchmarks --quick                  starts, engine, oracle: few requests, one load, under two minutes
python -m benchmarks --case replica/vllm      only the engine's cases whose names hold the text
python -m benchmarks --part memory            only this part
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import replace

from benchmarks import cases, engine, memory, start, traces
from benchmarks.cases import BenchCase
from benchmarks.measure import BEST_OF, machine, report
from simcore.engine.fast.warm import warm_up
from simcore.engine.version import engine_version

OWN_PROCESS = {"study": "benchmarks.study", "prices": "benchmarks.price_change", "scaling": "benchmarks.scaling"}
"""Parts that set up the web application, with a data folder of their own."""
PARTS = ("start", "engine", "oracle", "memory", "traces", *OWN_PROCESS, "large")
DEFAULT_PARTS = PARTS[:-1]
QUICK_PARTS = ("start", "engine", "oracle")
QUICK_RUNS = 3


def main() -> None:
    """Print the lines."""
    options = arguments()
    warm_up()
    report("machine", **machine(), engine_version=engine_version())
    usual = QUICK_PARTS if options.quick else DEFAULT_PARTS
    for part in options.part or (("engine",) if options.case else usual):
        measure(part, options.case, options.quick)


def quick_cases() -> list[BenchCase]:
    """Each cluster once, with few requests."""
    once = [case for case in cases.all_cases() if case not in cases.lengths()]
    return [replace(case, requests=cases.FEW) for case in once if case.load_percent == cases.QUICK_LOAD]


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        prog="benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--case", default="", metavar="TEXT")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def measure(part: str, text: str, quick: bool) -> None:
    """One part's lines."""
    chosen = [case for case in (quick_cases() if quick else cases.all_cases()) if text in case.name]
    if part == "start":
        start.main(cold=not quick)
    elif part == "engine":
        engine.speeds(chosen, QUICK_RUNS if quick else BEST_OF)
    elif part == "oracle":
        engine.speed_ups([case for case in chosen if case.name in cases.AGAINST_ORACLE])
    elif part == "memory":
        memory.main([case for case in chosen if case.name in cases.MEMORY], quick)
    elif part == "traces":
        traces.main(quick)
    elif part in OWN_PROCESS:
        subprocess.run([sys.executable, "-m", OWN_PROCESS[part]], check=True)
    else:
        memory.large(cases.large())


if __name__ == "__main__":
    main()
