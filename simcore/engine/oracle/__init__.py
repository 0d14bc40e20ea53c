"""The readable engine: one iteration at a time, the meaning of every rule."""
