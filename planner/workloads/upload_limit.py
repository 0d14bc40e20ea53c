"""Stops an upload at the size limit without keeping any of it, so that the rest of the form is still read."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile


class UploadLimit(FileUploadHandler):
    """First in the list of handlers: passes data on to the others until there is too much of it.

    The names of the fields whose file was too large are then in request.too_large.
    """

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        if start + len(raw_data) > settings.TRACE_MAX_BYTES:
            too_large(self.request).add(self.field_name)
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> None:
        return None


def too_large(request: Any) -> set[str | None]:
    """The names of the request's file fields whose upload was stopped."""
    if not hasattr(request, "too_large"):
        request.too_large = set()
    found: set[str | None] = request.too_large
    return found
