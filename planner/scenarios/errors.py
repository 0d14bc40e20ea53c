"""What is wrong with a question, by field."""

from collections.abc import Mapping

from simcore.spec import SpecError


class FieldErrors(ValueError):  # noqa: N818 - it holds several
    """Field name → message: what was found, what is expected. ``__all__`` holds what belongs to no single field."""

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {message}" for name, message in fields.items()))
        self.fields = dict(fields)


class at_field:  # noqa: N801 - reads as a statement
    """Names the field that a SpecError is about."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SpecError):
            raise FieldErrors({self.name: str(error)}) from error
