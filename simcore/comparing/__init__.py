"""Answers side by side: which is cheaper and how surely, what differs in what was asked, and what of the difference
comes from which of it. Pure, from stored results; nothing is simulated."""
