"""Latency objectives: what each request waited for, percentiles, and whether limits hold."""
