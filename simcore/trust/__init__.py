"""How far off an answer may be, and what it was not compared with: docs/uncertainty.md.

``time_error``: of iteration times, from what was measured nearest. ``capacity_error``: what that does to a capacity.
``margins``: joined with the noise of the simulation, for each design. ``ties``: which designs that leaves undecided.
``outside``: inputs that no measurement covers. All of it is worked out when a result is read: no stored evaluation
depends on it.
"""
