from __future__ import annotations

import json
from typing import Any


def test_every_target_gets_a_verdict_and_what_to_install(edgekit: Any) -> None:
    result = edgekit("doctor")
    assert result.exit_code == 0
    assert "CPUExecutionProvider" in result.stdout
    assert "to install:" in result.stdout
    data = json.loads(edgekit("doctor", "--json").stdout)
    assert data["schema"] == "edgekit.doctor/1"
    reasons = {v["target"]: v["reason"] for v in data["verdicts"]}
    assert None in reasons.values()
    assert "is not in this onnxruntime" in reasons["nvidia-cuda"]


def test_a_target_that_cannot_run_here_exits_5_and_ends_with_what_to_install(edgekit: Any) -> None:
    result = edgekit("doctor", "nvidia-cuda")
    assert result.exit_code == 5
    assert result.stderr.splitlines() == [
        "error: nvidia-cuda cannot run here: CUDAExecutionProvider is not in this onnxruntime",
        "  try: pip install onnxruntime-gpu, in the place of onnxruntime",
    ]
    assert "nvidia-cuda" in result.stdout


def test_this_machines_cpu_can_run(edgekit: Any) -> None:
    assert edgekit("doctor", "cpu").exit_code == 0


def test_an_unknown_target_is_refused(edgekit: Any) -> None:
    assert edgekit("doctor", "nvidia-cud").exit_code == 2
