"""The pilot kit: the smallest part of a design that shows its claim, how to serve and load it, what to expect, and when
not to buy.

``part.py`` takes one replica (or one prefill and one decode replica) out of a design with its share of the load;
``prediction.py`` says what it does on average; ``serving.py`` and ``loading.py`` write the commands; ``kit.py`` puts it
together with the bands; ``verdict.py`` compares what was measured.
"""

from simcore.pilot.kit import Band, PilotKit, PilotRun, pilot_kit
from simcore.pilot.verdict import Verdict, verdict

__all__ = ["Band", "PilotKit", "PilotRun", "Verdict", "pilot_kit", "verdict"]
