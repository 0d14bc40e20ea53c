"""Five figures of power, one definition each, never mixed up:

- **nameplate**: the most that the makers say the machines may draw;
- **provisioned**: what the site sets aside for them (the nameplate where nothing else is given);
- **drawn, mean**: energy of all machines, idle, hosts and fans included, over the time measured;
- **drawn, P99 of 1 s**: of the seconds of that time;
- **facility**: the drawn mean times PUE: what the site takes for it, cooling and losses included.

PUE is of energy over time, so it multiplies the drawn mean alone: no nameplate, no provisioned power, no cap and no
single second. It is no part of a stored result, as prices are none.
"""

from __future__ import annotations


def facility_w(mean_w: float, pue: float) -> float:
    """What the site takes on average where its machines draw ``mean_w``."""
    return mean_w * pue


def at_facility(mean_w: float, pue: float) -> dict[str, float]:
    """``pue`` and ``facility_w``, as commands write them beside ``mean_w``."""
    return {"pue": pue, "facility_w": facility_w(mean_w, pue)}
