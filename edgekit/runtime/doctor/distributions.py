"""The installed packages that bring onnxruntime. Two that write into the same folder are the classic accident."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata

MODULE = "onnxruntime/__init__.py"
PLUGINS = ("onnxruntime-ep-", "onnxruntime-qnn", "onnxruntime_ep_", "onnxruntime_qnn")


@dataclass(frozen=True)
class Distribution:
    """One installed package."""

    name: str
    version: str
    owns_module: bool  # whether it brings `import onnxruntime` itself; if not, it is a provider for it


def installed(found: Iterable[metadata.Distribution] | None = None) -> list[Distribution]:
    """The packages of onnxruntime and its providers, by name.

    Args:
        found: in place of those of this environment.
    """
    out = {}
    for one in metadata.distributions() if found is None else found:
        name = one.metadata["Name"] or ""
        owns = any(str(file) == MODULE for file in one.files or ())
        if owns or name.lower().startswith(PLUGINS):
            out[name.lower()] = Distribution(name, one.version, owns)
    return [out[name] for name in sorted(out)]


def accident(distributions: Iterable[Distribution]) -> str | None:
    """What is wrong where several own the module, and the way out; none where all is well."""
    owners = [d.name for d in distributions if d.owns_module]
    if len(owners) < 2:
        return None
    names = " ".join(owners)
    return (
        f"{' and '.join(owners)} are one and the same Python module, the files of one over those of the other: "
        f"pip uninstall -y {names}, then pip install the one that this machine needs"
    )
