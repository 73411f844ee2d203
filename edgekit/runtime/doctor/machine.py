"""The processor's features, the drivers of accelerators, the cache folder: read from files, nothing is run."""

from __future__ import annotations

import os
import platform
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from edgekit.cache import stamp

ROOT = Path("/")
FEATURES = ("avx2", "avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm", "sve")
ARM = ("aarch64", "arm64", "armv7l")


@dataclass(frozen=True)
class Driver:
    """A driver of an accelerator, as far as its files show."""

    name: str
    state: str  # a sentence
    usable: bool


def features(root: Path = ROOT) -> tuple[str, ...]:
    """What the processor can do that int8 gains from, in Linux's names; empty where nobody says."""
    with suppress(OSError):
        text = (root / "proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        words = {w for line in re.findall(r"^(?:flags|Features)\s*:(.*)$", text, re.M) for w in line.split()}
        return tuple(name for name in FEATURES if name in words)
    return ()


def int8(found: tuple[str, ...], architecture: str) -> str:
    """What the features mean for int8 on the CPU: facts/targets, "CPU"."""
    if not found:
        return "what the processor can do is not known"
    if architecture in ARM:
        return "int8 runs on dot products" if "asimddp" in found else "no dot products: int8 gains little over float"
    if {"avx512_vnni", "avx_vnni", "amx_int8"} & set(found):
        return "int8 with uint8 activations and int8 weights is fast and exact"
    return "no VNNI: int8 products add up in 16 bits and may saturate, so quantize with reduce_range"


def drivers(root: Path = ROOT) -> list[Driver]:
    """The drivers that are here; an absent one is not listed."""
    out = []
    if (root / "sys/module/amdgpu").is_dir():
        out.append(_device("amdgpu", [root / "dev/kfd"], "ROCm needs /dev/kfd: join the groups render and video"))
    if (root / "sys/module/amdxdna").is_dir():
        out.append(_device("amdxdna", sorted((root / "dev/accel").glob("accel*")), "the NPU needs /dev/accel/accel0"))
    if (root / "dev/galcore").exists():
        out.append(_device("galcore", [root / "dev/galcore"], "the NPU needs /dev/galcore"))
    if (root / "proc/driver/nvidia/version").is_file():
        out.append(_device("nvidia", [root / "dev/nvidia0"], "CUDA needs /dev/nvidia0"))
    if release := platform.mac_ver()[0]:
        out.append(Driver("macOS", f"macOS {release}: Core ML is part of it", True))
    return out


def cache(folder: Path | None = None) -> tuple[str, bool]:
    """The cache folder in a sentence, and whether it can be written."""
    folder = folder or stamp.root()
    there = next(p for p in (folder, *folder.parents) if p.exists())
    writable = there.is_dir() and os.access(there, os.W_OK)
    free = shutil.disk_usage(there).free / 1e9
    return f"{folder}: " + (f"{free:.1f} GB free" if writable else "cannot be written"), writable


def _device(name: str, nodes: list[Path], lacks: str) -> Driver:
    usable = [node for node in nodes if os.access(node, os.R_OK | os.W_OK)]
    if usable:
        return Driver(name, f"{usable[0].name} can be opened", True)
    there = [node for node in nodes if node.exists()]
    return Driver(name, f"{there[0].name} may not be opened by this user: {lacks}" if there else lacks, False)
