"""What a compiled program depends on beside the model and its options: the provider's release, the silicon, the driver.

What cannot be learnt is None, which makes the cache's key stricter. Nothing here runs a program or opens a device.
"""

from __future__ import annotations

import platform
import plistlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgekit.runtime import plugins
from edgekit.runtime.request import Request

ROOT = Path("/")
LIBRARIES = "usr/lib", "usr/lib64", "usr/local/lib", "opt/rocm/lib", "usr/lib/x86_64-linux-gnu"
NONE = "-"  # there is no such part
NOT_IDENTITY = ("library_path",)  # where a plugin is, not what it is


@dataclass(frozen=True)
class Identity:
    """A provider on this machine."""

    version: str | None = None
    device: str | None = None
    driver: str | None = None


def of(ort: Any, request: Request, root: Path = ROOT) -> Identity:
    """Learn what can be learnt of a provider.

    Args:
        root: where the file system begins, for tests.

    Raises:
        ProviderError: it is a plugin, and cannot be loaded or has no such device.
    """
    learnt = _of_plugin(ort, request) if request.plugin else Identity(version=str(ort.__version__))
    found = READERS.get(request.provider, _nothing)(root)
    version = None if found.version is None else _joined(learnt.version, found.version)
    return Identity(version, _joined(learnt.device, found.device), found.driver or learnt.driver)


def _of_plugin(ort: Any, request: Request) -> Identity:
    """What the plugin says of its device: OpenVINO gives its name, capabilities and release."""
    device = plugins.choose(ort, request)
    said = {str(k): str(v) for k, v in device.ep_metadata.items() if k not in NOT_IDENTITY}
    hardware = device.device
    said |= {"type": str(hardware.type), "vendor": str(hardware.vendor), "id": str(hardware.device_id)}
    said |= {f"hardware.{k}": str(v) for k, v in hardware.metadata.items()}
    on_cpu = str(hardware.type).endswith("CPU")
    assert request.plugin is not None
    # QNN's plugin 2.7.0 gives 0.1.0 as its version: the package's own release tells more
    version = _joined(said.pop("version", None), _distribution(request.plugin.module))
    return Identity(
        version, _listed({**said, **({"processor": _processor()} if on_cpu else {})}), NONE if on_cpu else None
    )


def _nothing(root: Path) -> Identity:
    return Identity(version=NONE)


def _migraphx(root: Path) -> Identity:
    """The MIGraphX library behind the provider, the GPUs' architectures, the kernel's driver.

    Its own cache forgets the weights and, in most releases, the options: facts/targets, "MIGraphX".
    """
    nodes = sorted(root.glob("sys/class/kfd/kfd/topology/nodes/*/properties"))
    targets = [found[1] for node in nodes if (found := re.search(r"gfx_target_version (\d+)", _text(node) or ""))]
    gpus = [target for target in targets if int(target)]  # a processor's node has 0
    return Identity(_library(root, "libmigraphx_c.so.3"), " ".join(gpus) or None, _module(root, "amdgpu"))


def _vitisai(root: Path) -> Identity:
    """The NPU and its driver; the package `voe` carries the provider's release."""
    ids = [
        " ".join(filter(None, (_text(device / name) for name in ("vendor", "device", "revision"))))
        for device in sorted(root.glob("sys/class/accel/accel*/device"))
    ]
    return Identity(_distribution("voe"), "; ".join(ids) or None, _module(root, "amdxdna"))


def _coreml(root: Path) -> Identity:
    """macOS brings the compiler: its build says which."""
    build = None
    with suppress(OSError, KeyError, plistlib.InvalidFileException, ValueError):
        plist = (root / "System/Library/CoreServices/SystemVersion.plist").read_bytes()
        build = str(plistlib.loads(plist)["ProductBuildVersion"])
    return Identity(NONE, platform.processor() or platform.machine() or None, build)


def _cuda(root: Path) -> Identity:
    """The GPUs and the driver, as the driver lists them."""
    files = sorted(root.glob("proc/driver/nvidia/gpus/*/information"))
    models = [found[1].strip() for file in files if (found := re.search(r"Model:(.*)", _text(file) or ""))]
    driver = re.search(r"Kernel Module\s+([\d.]+)", _text(root / "proc/driver/nvidia/version") or "")
    return Identity(NONE, "; ".join(models) or None, driver[1] if driver else None)


READERS: Mapping[str, Callable[[Path], Identity]] = {
    "MIGraphXExecutionProvider": _migraphx,
    "VitisAIExecutionProvider": _vitisai,
    "CoreMLExecutionProvider": _coreml,
    "CUDAExecutionProvider": _cuda,
}


def _processor() -> str:
    """The CPU's model and what it can do: programs for one need not run on another."""
    text = _text(ROOT / "proc/cpuinfo") or ""
    names = ("model name", "flags", "Features", "CPU part")
    found = (re.search(rf"^{name}\s*:(.*)$", text, re.M) for name in names)
    return " ".join(match[1].strip() for match in found if match) or platform.processor()


def _module(root: Path, name: str) -> str | None:
    """A kernel module's release; a module of the kernel itself has the kernel's."""
    if not (root / "sys/module" / name).is_dir():
        return None
    return _text(root / "sys/module" / name / "version") or f"{name} of {platform.release()}"


def _library(root: Path, name: str) -> str | None:
    """The real file behind a shared library's link: its name ends with the release."""
    for folder in LIBRARIES:
        link = root / folder / name
        if link.exists():
            return link.resolve().name
    return None


def _distribution(name: str) -> str | None:
    from importlib import metadata

    with suppress(metadata.PackageNotFoundError):
        return f"{name} {metadata.version(name)}"
    return None


def _text(path: Path) -> str | None:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").strip()
    return None


def _listed(values: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={values[name]}" for name in sorted(values))


def _joined(*parts: str | None) -> str | None:
    return "; ".join(part for part in parts if part and part != NONE) or None
