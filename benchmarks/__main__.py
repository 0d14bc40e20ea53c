"""``make bench``: every benchmark of this folder, one line of JSON a figure."""

from __future__ import annotations

import sys

from benchmarks import engine, study

if __name__ == "__main__":
    for benchmark in (engine, study):
        benchmark.main()
        sys.stdout.flush()
