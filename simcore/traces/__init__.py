"""Traces of requests: reading, writing, generating, bringing to another rate."""

from simcore.traces.errors import TraceError
from simcore.traces.read import read_trace
from simcore.traces.report import ParseReport
from simcore.traces.trace import PS_PER_S, Trace
from simcore.traces.write import write_trace

__all__ = ["PS_PER_S", "ParseReport", "Trace", "TraceError", "read_trace", "write_trace"]
