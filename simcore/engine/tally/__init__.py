"""A run's requests, walked over once by compiled code: all that is counted, summed or ranked of them.

``tally.py`` is what Python calls. What a request's waits and slowdowns are is said in ``simcore/slo/latencies.py`` and
``simcore/slo/objective.py``, of whole columns; ``waits.py`` here gives the same numbers, bit for bit, of one request
after the other, so that no column has to be written but of the values among which a percentile is looked for
(``ranks.py``).
"""
