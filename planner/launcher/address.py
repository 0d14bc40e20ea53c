"""Where the web server listens: a free port before it starts, an answer once it has."""

import http.client
import ipaddress
import socket
import sys
from dataclasses import dataclass


class AddressError(ValueError):
    """The address cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Address:
    """A numeric host and a port."""

    host: str
    port: int

    @classmethod
    def parse(cls, host: str, port: str) -> "Address":
        try:
            ipaddress.ip_address(host)
        except ValueError as error:
            raise AddressError(f"PHASEPLAN_BIND={host}: expected an address such as 127.0.0.1 or 0.0.0.0") from error
        if not port.isdecimal() or not 1 <= int(port) <= 65535:
            raise AddressError(f"PORT={port}: expected a number from 1 to 65535")
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def near_host(self) -> str:
        """What a program on this machine connects to."""
        return "127.0.0.1" if ipaddress.ip_address(self.host).is_unspecified else self.host

    @property
    def host_name(self) -> str:
        """As it stands in an address."""
        return _bracketed(self.near_host)

    @property
    def url(self) -> str:
        return f"http://{self.host_name}:{self.port}/"

    @property
    def bind(self) -> str:
        return f"{_bracketed(self.host)}:{self.port}"

    def check_free(self) -> None:
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((self.host, self.port))
            except OSError as error:
                raise AddressError(self._refusal(error)) from error

    def _refusal(self, error: OSError) -> str:
        if isinstance(error, PermissionError):
            return f"port {self.port} needs special rights; try: make run PORT=8001"
        other = self.port + 1 if self.port < 65535 else 8000
        return f"port {self.port} is taken by another program ({error.strerror}); try: make run PORT={other}"

    def answers(self) -> bool:
        """Whether the web server says that it is healthy (it listens before the application is loaded)."""
        connection = http.client.HTTPConnection(self.near_host, self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


if __name__ == "__main__":  # a container's health check: python -m planner.launcher.address 8000
    sys.exit(0 if Address.parse("127.0.0.1", sys.argv[1]).answers() else 1)
