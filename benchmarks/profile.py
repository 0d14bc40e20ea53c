"""Where one simulation's CPU time goes: the share of each Python function; the compiled engine is ``advance``.

    python -m benchmarks.profile splitwise/25+15/conversation/80

Inside ``advance``, with Linux's perf (or ``py-spy record --native``), compiled functions by name:

    NUMBA_ENABLE_PROFILING=1 perf record -g -k 1 python -m benchmarks.profile NAME
    perf inject --jit -i perf.data -o jit.data && perf report -i jit.data
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import time

from benchmarks import cases
from benchmarks.load import trace_of
from simcore.simulation import simulate
from simcore.slo.objective import objective
from simcore.spec import decode_case

SHOWN = 30


def main() -> None:
    """Print the functions that take most, themselves and with what they call."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=[case.name for case in cases.all_cases()], metavar="CASE")
    (bench,) = [case for case in cases.all_cases() if case.name == parser.parse_args().case]
    case, trace = decode_case(bench.case), trace_of(bench)
    goal = objective(case)
    simulate(case, trace.first(100), goal)
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(simulate, case, trace, goal)
    for order in ("tottime", "cumtime"):
        pstats.Stats(profile).sort_stats(order).print_stats(SHOWN)


if __name__ == "__main__":
    main()
