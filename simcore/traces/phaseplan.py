"""Phaseplan's own format: arrival_s, prompt_tokens, output_tokens and four optional columns.

arrival_s is kept as given, to the picosecond (finer decimals are rounded half to even). An empty
cached_prompt_tokens or max_output_tokens is "not given".
"""

from simcore.traces.digits import seconds_as_ps as many_seconds
from simcore.traces.format import CACHED, CLASS, LIMIT, SESSION, ArrivalColumn, TableFormat
from simcore.traces.numbers import seconds_as_ps as one_second

PHASEPLAN = TableFormat(
    id="phaseplan",
    label="Phaseplan trace",
    arrival=ArrivalColumn("arrival_s", 1, False, many_seconds, one_second, "seconds"),
    prompt="prompt_tokens",
    output="output_tokens",
    optional={name: name for name in (CACHED, LIMIT, CLASS, SESSION)},
)
