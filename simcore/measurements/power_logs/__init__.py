"""Logs of what accelerators draw (docs/power.md): one reader a format, and what they add up to."""
