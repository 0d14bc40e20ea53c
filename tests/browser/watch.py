"""What a page under test must not do."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Request


@dataclass
class Watch:
    """What a page must not do; a test that causes an error on purpose names it in ``expected``."""

    origin: str
    foreign: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def on_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.foreign.append(request.url)

    def on_console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.errors.append(message.text)

    def on_error(self, error: Any) -> None:
        self.errors.append(str(error))

    def unexpected(self) -> list[str]:
        return [error for error in self.errors if not any(text in error for text in self.expected)]
