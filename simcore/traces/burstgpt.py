"""BurstGPT's traces: Timestamp (seconds of the first day's midnight), Request tokens, Response tokens.

A request that failed has 0 response tokens, and is refused as such: it was no work of a length that anybody knows. The
model is kept as the request's class. Elapsed time is that of the whole response, and not read.
"""

from functools import partial

from simcore.traces.digits import MOST_NS_SECONDS, NS_DIGITS, scaled_decimals
from simcore.traces.format import CLASS, SESSION, ArrivalColumn, TableFormat
from simcore.traces.numbers import seconds_as_ns

BURSTGPT = TableFormat(
    id="burstgpt",
    label="BurstGPT trace",
    arrival=ArrivalColumn(
        "Timestamp",
        1_000,
        True,
        partial(scaled_decimals, decimals=NS_DIGITS, most_whole=MOST_NS_SECONDS - 1),
        seconds_as_ns,
        "seconds",
    ),
    prompt="Request tokens",
    output="Response tokens",
    optional={CLASS: "Model", SESSION: "Session ID"},
    unused=("Elapsed time", "Total tokens", "Log Type"),
    failed="1 or more: BurstGPT's failed requests have 0",
)
