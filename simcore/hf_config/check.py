"""What the count and the KV bytes of a token are compared with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simcore.catalogue import model as catalogue_model
from simcore.catalogue import model_ids
from simcore.hf_config.model import Imported
from simcore.shapes import kv_bytes_per_token
from simcore.spec import Model

SHAPES = (
    *("layers", "hidden_size", "heads", "kv_heads", "head_dim", "intermediate_size", "vocab_size", "attention"),
    *("experts", "experts_per_token", "expert_intermediate_size", "kv_lora_rank"),
)
NAME_TOLERANCE = 0.25
"""Names are round: 1B of 1.24e9 (Llama 3.2), 7B of 8.54e9 (Gemma)."""
NAMED_SIZE = re.compile(r"(?<![a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class Check:
    """One comparison, in words with its numbers."""

    what: str
    """``parameters`` or ``KV bytes a token``."""
    against: str
    expected: float
    found: int
    agrees: bool

    @property
    def difference(self) -> float:
        """Relative: found / expected - 1."""
        return self.found / self.expected - 1


def checks(imported: Imported, published: int | None = None) -> list[Check]:
    """Against a published total (to 0.1 %), the catalogue's model of the same shapes (exactly), the size in the name
    (roughly, to 25 %): whichever there are."""
    model, found = imported.model, []
    if published is not None:
        exact = abs(model.parameters / published - 1) <= 1e-3
        found.append(Check("parameters", "the published total", published, model.parameters, exact))
    for twin in _twins(model):
        same = model.parameters == twin.parameters
        found.append(Check("parameters", f"{twin.name} in the catalogue", twin.parameters, model.parameters, same))
        theirs, ours = kv_bytes_per_token(twin), kv_bytes_per_token(model)
        if twin.kv_precision == model.kv_precision:
            found.append(Check("KV bytes a token", f"{twin.name} in the catalogue", theirs, ours, theirs == ours))
    if (named := named_size(model.name)) is not None:
        near = abs(model.parameters / named - 1) <= NAME_TOLERANCE
        found.append(Check("parameters", "the size in its name", named, model.parameters, near))
    return found


def named_size(name: str) -> float | None:
    """Parameters that a name speaks of: ``Llama 3.1 70B`` → 70e9; None for none, or of experts (8x7B, A3B) alone."""
    sizes = [
        float(size) * (1e9 if unit.lower() == "b" else 1e6)
        for times, size, unit in NAMED_SIZE.findall(name)
        if not times
    ]
    return max(sizes, default=None)


def _twins(model: Model) -> list[Model]:
    every = (catalogue_model(model_id) for model_id in model_ids())
    return [known for known in every if all(getattr(known, name) == getattr(model, name) for name in SHAPES)]
