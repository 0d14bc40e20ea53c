"""The one error of this package."""

from simcore.spec.decode import SpecError


class TraceError(SpecError):
    """A trace or a mix that cannot be used; one line: where, what was found, what is expected."""
