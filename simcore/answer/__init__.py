"""Stored evaluations and prices put together: what to buy, against what, what that rests on. No engine."""
