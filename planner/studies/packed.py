"""What is simulated, as bytes beside the checksum of their content: compressed JSON, a seventh of its length."""

import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any, TypeVar

from simcore.spec import encode
from simcore.spec.revive import revive

T = TypeVar("T")


class DamagedError(ValueError):
    """The bytes are not those that were written, or no longer mean anything."""


@dataclass(frozen=True)
class Packed:
    data: bytes
    checksum: str


def pack(value: Any) -> Packed:
    """A dataclass of simcore's, or plain JSON, as bytes."""
    content = json.dumps(encode(value), sort_keys=True, separators=(",", ":")).encode()
    return Packed(zlib.compress(content), hashlib.sha256(content).hexdigest())


def unpack(cls: type[T], data: bytes | memoryview, checksum: str) -> T:
    """The object that was packed; DamagedError where it cannot be had."""
    plain = unpack_json(data, checksum)
    try:
        return revive(cls, plain)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DamagedError(f"it cannot be read ({error})") from error


def unpack_json(data: bytes | memoryview, checksum: str) -> Any:
    """The plain JSON that was packed; DamagedError where it cannot be had."""
    try:
        content = zlib.decompress(bytes(data))
        if hashlib.sha256(content).hexdigest() != checksum:
            raise DamagedError("its checksum does not hold")
        return json.loads(content)
    except DamagedError:
        raise
    except (zlib.error, ValueError) as error:
        raise DamagedError(f"it cannot be read ({error})") from error
