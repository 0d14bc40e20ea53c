"""What is wrong with a question, by field."""

from collections.abc import Mapping


class FieldErrors(ValueError):  # noqa: N818 - it holds several
    """Field name → message: what was found, what is expected. ``__all__`` holds what belongs to no single field."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {message}" for name, message in fields.items()))
        self.fields = dict(fields)
