"""JSON as it comes from anybody."""

from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser


class PlainJsonParser(JSONParser):
    """One so deep that it cannot be read is refused as any other that is no JSON."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            return super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise ParseError("Found lists or objects within each other too deep to be read.") from None
