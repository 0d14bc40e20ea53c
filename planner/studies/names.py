"""Machines and families by short names: at the ends of lines, over sliders."""

from collections.abc import Mapping

from simcore.families import SCHEDULER_NAMES, SPLIT
from simcore.spec import StudySpec
from simcore.what_if.changes import studied_machines

MAKE = "DGX "
"""Left out where all machines of a study share it."""


def without_make(machines: Mapping[str, str]) -> dict[str, str]:
    """Machine id → name, without what all names begin with."""
    if all(name.startswith(MAKE) for name in machines.values()):
        return {machine_id: name.removeprefix(MAKE) for machine_id, name in machines.items()}
    return dict(machines)


def family_names(spec: StudySpec) -> dict[str, str]:
    """Family id → ``Sarathi, H100`` or ``Split, H100 + A100``, of all families of the study's machines."""
    machines = without_make(studied_machines(spec))
    together = {
        f"{kind}:{name}": f"{words.partition(',')[0]}, {label}"
        for kind, words in SCHEDULER_NAMES.items()
        for name, label in machines.items()
    }
    split = {
        f"{SPLIT}:{first}+{second}": f"Split, {machines[first]} + {machines[second]}"
        for first in machines
        for second in machines
    }
    return together | split
