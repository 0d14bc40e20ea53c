"""Traces of requests: reading, writing, generating, bringing to another rate."""

from simcore.traces.errors import TraceError
from simcore.traces.read import read_trace
from simcore.traces.report import ParseReport
from simcore.traces.resample import at_rate, block_bootstrap
from simcore.traces.synthetic import SyntheticSpec, generate
from simcore.traces.trace import PS_PER_S, Trace
from simcore.traces.write import write_trace

__all__ = [
    "PS_PER_S",
    "ParseReport",
    "SyntheticSpec",
    "Trace",
    "TraceError",
    "at_rate",
    "block_bootstrap",
    "generate",
    "read_trace",
    "write_trace",
]
