"""A Hugging Face ``config.json`` becomes a ``Model``, with every parameter counted and what was assumed said.

``read_config`` reads the text (``keys.py``: names that differ by family), ``families.py`` says what a family has that
its file does not mention (norms, biases, tied embeddings), ``experts.py``, ``windows.py`` and ``precision.py`` read
those, ``model.py`` makes the ``Model``, ``parameters.py`` counts its parameters one by one, and ``check.py`` compares
the count and the KV bytes of a token with what is known: catalogue models, a published total, the size in its name.
"""

from simcore.hf_config.check import Check, checks
from simcore.hf_config.keys import MOST_BYTES, Config, read_config
from simcore.hf_config.model import MOST_PARAMETERS, Imported, import_model

__all__ = ["MOST_BYTES", "MOST_PARAMETERS", "Check", "Config", "Imported", "checks", "import_model", "read_config"]
