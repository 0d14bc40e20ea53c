"""Phaseplan's web application. What only the worker needs (Celery, the engine) is imported by the worker alone."""
