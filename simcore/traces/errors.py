"""The one error of this package."""


class TraceError(ValueError):
    """A trace or a mix that cannot be used; one line: where, what was found, what is expected."""
