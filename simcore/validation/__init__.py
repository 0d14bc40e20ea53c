"""Predictions against measurements: readers of each measured set, what they give, and the report.

``recompute`` (recompute.py) is the whole of it; ``names.py`` says what a name in a file is in the catalogue.
"""
