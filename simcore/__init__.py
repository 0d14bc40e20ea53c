"""Phaseplan's simulation core: no Django, no network; importable and scriptable alone."""
