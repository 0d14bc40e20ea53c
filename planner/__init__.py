"""Phaseplan's web application; the Celery app is loaded with it so that tasks find their broker."""

from planner.celery import app as celery_app

__all__ = ["celery_app"]
