"""`python -m edgekit.runtime.doctor.probe`: what onnxruntime and its providers say of themselves, as one JSON object.

A process of its own, since a vendor's library may crash where an error was due (RyzenAI-SW#321), or print what it
likes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from edgekit.errors import EdgekitError
from edgekit.runtime import plugins, session
from edgekit.runtime.plugins import Plugin
from edgekit.runtime.providers import CPU, TABLES
from edgekit.runtime.request import Request

SECONDS = 120  # for all of it; an accelerator's library may load for many
# y = x + x of one float, opset 13, IR 7: the least that a provider can be given
MODEL = bytes.fromhex(
    "080712003a350a0e0a01780a017812017922034164641201675a0f0a0178120a0a08080112040a020801620f0a0179120a0a08080112040a02"
    "080142040a00100d"
)


def ask(python: str = sys.executable) -> dict[str, Any]:
    """Run the probe.

    Returns:
        `version`, `providers` (name: what is wrong, or none), `plugins` (module: the same and its devices), or `error`.
    """
    command = [python, "-m", "edgekit.runtime.doctor.probe"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"onnxruntime and its providers did not load within {SECONDS} s"}
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return {"error": f"loading onnxruntime and its providers ends with code {done.returncode}"}
    return answer


def look() -> dict[str, Any]:
    """Load everything that is installed, here."""
    try:
        ort = session.onnxruntime()
    except EdgekitError as e:
        return {"error": str(e)}
    names = [name for name in ort.get_available_providers() if name != CPU]
    brought = [(table.provider, Plugin(table.plugin, table.preloads)) for table in TABLES if table.plugin]
    return {
        "version": ort.__version__,
        "compiled": list(ort.get_all_providers()),
        "providers": {CPU: None, **{name: _wrong(Request(name)) for name in names}},
        "plugins": {p.module: _plugin(ort, name, p) for name, p in brought if p.installed},
    }


def _wrong(request: Request) -> str | None:
    try:
        session.create(MODEL, [request], name="the smallest model")
    except EdgekitError as e:
        return str(e)
    return None


def _plugin(ort: Any, provider: str, plugin: Plugin) -> dict[str, Any]:
    try:
        devices = [
            {"type": str(d.device.type).rpartition(".")[2].lower(), "name": d.ep_metadata.get("FULL_DEVICE_NAME", "")}
            for d in plugins.devices(ort, provider, plugin)
        ]
    except EdgekitError as e:
        return {"provider": provider, "wrong": str(e), "devices": []}
    wrong = _wrong(Request(provider, plugin=plugin)) if devices else "it sees no device"
    return {"provider": provider, "wrong": wrong, "devices": devices}


if __name__ == "__main__":
    answers = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no answer
    os.write(answers, json.dumps(look()).encode() + b"\n")
