"""The answer: studies, their shards and what they found."""

from planner.studies.workers import Worker

__all__ = ["Worker"]
