"""The published JSON Schemas of the files that are JSON, at ``/schemas/<name>.json``; also in ``docs/schemas``.

A file names its own under ``schema``. The number at a name's end goes up when a reader of the old one would be wrong; a
key that is new does not.
"""

NAMES = ("costs-1", "designs-1")


def address(name: str) -> str:
    """Below the address of the server."""
    return f"/schemas/{name}.json"
