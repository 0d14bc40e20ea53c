"""Kinds that are told from what the study has, without a simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from simcore.analyses.kind import Field, Json, Kind, Subject

P = TypeVar("P")


@dataclass(frozen=True)
class Nothing:
    """A task in which nothing is simulated."""


def told_at_once(
    name: str,
    title: str,
    about: str,
    parameters: type[P],
    told: Callable[[Subject, P], Json],
    check: Callable[[Subject, P], object],
    fields: tuple[Field, ...] = (),
) -> Kind[P, Nothing]:
    """``check``: SpecError where the study has nothing to ask this of, with the reason."""

    def task(subject: Subject, given: P) -> Nothing:
        check(subject, given)
        return Nothing()

    return Kind(
        name=name,
        title=title,
        about=about,
        parameters=parameters,
        task_type=Nothing,
        task=task,
        cpu_s=lambda task, statistics: 0.0,
        steps=lambda task: 0,
        run=lambda task, lab: {},
        told=lambda subject, given, task, found: told(subject, given),
        fields=fields,
    )
