"""Where iteration times come from: every source compiles to one ``IterationCurve``."""
