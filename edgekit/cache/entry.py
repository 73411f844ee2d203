"""A compiled program on the disk: a folder with `entry.json`, which says what it is, and `data`, the provider's own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, cast

from edgekit.cache import files
from edgekit.cache.key import CacheKey
from edgekit.manifest import FileRecord

FILE = "entry.json"
DATA = "data"
SCHEMA = "edgekit.cache/1"
NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{8}")  # the key's digest, then what makes this folder the only one

# filling: its session compiles. copy: of a ready one, for a session that is not alone with it. Either is
# garbage without a living lease.
State = Literal["filling", "copy", "ready"]


@dataclass(frozen=True)
class Entry:
    """A compiled program. Once it is ready, its files do not change: there may only be more."""

    path: Path
    key: CacheKey
    label: str  # what the user calls the model
    state: State
    created: str  # by the machine's clock, for display
    seconds: float | None = None  # that it took to compile
    files: Mapping[str, FileRecord] = field(default_factory=dict)  # by path below `data`

    @property
    def name(self) -> str:
        """Its folder's name: the key's digest and a number of its own."""
        return self.path.name

    @property
    def data(self) -> Path:
        """The provider's folder."""
        return self.path / DATA

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(record.size for record in self.files.values())

    def write(self) -> None:
        """Write entry.json, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        data = {
            "schema": SCHEMA,
            "state": self.state,
            "label": self.label,
            "created": self.created,
            "seconds": self.seconds,
            "key": self.key.to_dict(),
            "files": {name: asdict(record) for name, record in self.files.items()},
        }
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
        files.write(self.path / FILE, text, durable=self.state == "ready")


def read(path: Path) -> Entry | None:
    """The entry in a folder; None if there is none, or if its record is damaged."""
    try:
        data = json.loads((path / FILE).read_bytes())
        if data["schema"] != SCHEMA or data["state"] not in ("filling", "copy", "ready"):
            return None
        key = CacheKey.from_dict(data["key"])
        recorded = {name: FileRecord(int(f["size"]), str(f["sha256"])) for name, f in data["files"].items()}
        if any(name.startswith("/") or ".." in name.split("/") for name in recorded):
            return None
        seconds = None if data["seconds"] is None else float(data["seconds"])
        return Entry(path, key, str(data["label"]), cast(State, data["state"]), str(data["created"]), seconds, recorded)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
