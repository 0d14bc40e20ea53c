"""A study's search: which designs are tried, in which order, and what is proven without trying. No engine."""
