"""The compiled engine (numba): the oracle's files and function names, its results bit for bit."""
