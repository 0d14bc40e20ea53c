"""The highest rate that a design holds: a search over simulated rates, and how far chance moves it."""
