"""Messages as files of the data folder, as kombu keeps them, but none is ever seen half written.

kombu's own writes a message under the name it is read by, so that a worker which looks at that moment reads nothing,
takes it for a broken broker and ends.
"""

import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **_: Any) -> None:  # type: ignore[override]  # named as in kombu.filesystem
        """Writes the message aside (nobody reads ``.part``) and puts it under its name whole. They are read by name, so
        in the order in which they came."""
        folder = Path(self.data_folder_out)
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}"
        aside = folder / f"{name}.part"
        aside.write_text(dumps(payload), encoding="utf-8")
        aside.rename(folder / f"{name}.{queue}.msg")


class Transport(filesystem.Transport):
    Channel = Channel
