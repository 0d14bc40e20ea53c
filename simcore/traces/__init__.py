"""Traces of requests: reading, writing, generating, bringing to another rate."""

from simcore.traces.errors import TraceError
from simcore.traces.trace import PS_PER_S, Trace

__all__ = ["PS_PER_S", "Trace", "TraceError"]
