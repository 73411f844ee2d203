"""`edgekit targets`: what is listed, shown and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

Run = Callable[..., object]
BROKEN = """\
name: board
title: A board
provider: {name: CPUExecutionProvider}
precision: {default: fp32, allowed: [fp32]}
limits:
  opset_mx: 20
"""


@pytest.fixture(autouse=True)
def no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_config_dir", lambda name: str(tmp_path / "configuration"))
    monkeypatch.delenv("EDGEKIT_TARGETS", raising=False)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    file = tmp_path / "profiles" / "board.yaml"
    file.parent.mkdir()
    file.write_text(BROKEN, encoding="utf-8")
    return file


def test_ls_lists_name_provider_device_and_precisions(edgekit) -> None:
    result = edgekit("targets", "ls")
    assert result.exit_code == 0
    header, *rows = result.stdout.splitlines()
    assert header.split() == ["name", "title", "provider", "device", "precisions"]
    row = next(r for r in rows if r.startswith("cpu-x86_64 "))
    assert "CPUExecutionProvider" in row
    assert "fp32 (default), fp16, int8" in row


def test_ls_as_json_is_one_object(edgekit) -> None:
    data = json.loads(edgekit("targets", "ls", "--json").stdout)
    assert data["schema"] == "edgekit.targets/1"
    by_name = {t["name"]: t for t in data["targets"]}
    assert by_name["cpu-arm64"]["precision"] == {"default": "fp32", "allowed": ["fp32", "fp16", "int8"]}
    assert data["problems"] == []


def test_ls_warns_of_a_broken_profile_and_lists_the_others(edgekit, broken: Path, monkeypatch) -> None:
    monkeypatch.setenv("EDGEKIT_TARGETS", str(broken.parent))
    result = edgekit("targets", "ls")
    assert result.exit_code == 0
    assert f"{broken}:6: limits.opset_mx: no such key, did you mean opset_max?" in result.stderr
    assert "cpu-arm64" in result.stdout


def test_show_says_all_and_who_says_so(edgekit) -> None:
    result = edgekit("targets", "show", "cpu-arm64")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    at = lines.index("limits.ir_max: 9")
    assert lines[at + 1].strip().startswith("source: measured with onnxruntime 1.17.1")
    assert "session_options.session.intra_op.allow_spinning: 0" in lines


def test_show_as_json_holds_the_whole_profile(edgekit) -> None:
    data = json.loads(edgekit("targets", "show", "cpu-arm64", "--json").stdout)
    assert data["schema"] == "edgekit.targets/1"
    assert data["target"]["architecture"] == ["aarch64", "arm64", "ARM64"]
    assert data["target"]["facts"]["int8_dotprod"]["source"] == "microsoft/onnxruntime#9902"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cpu-x68_64", ["did you mean cpu-x86_64?", "try: edgekit targets ls"]),
        ("imx", ["nxp-imx8mp", "Sony IMX500", "try: edgekit targets ls"]),
        ("cpu-arm64@6.12", ["cpu-arm64 has no image '6.12'"]),
        ("no/such.yaml", ["no/such.yaml does not exist"]),
    ],
)
def test_a_name_that_is_no_target_exits_2_with_what_to_do(edgekit, name: str, words: list[str]) -> None:
    result = edgekit("targets", "show", name)
    assert result.exit_code == 2
    assert result.stdout == ""
    for word in words:
        assert word in result.stderr


def test_validate_names_line_key_and_the_nearest_valid_key(edgekit, broken: Path) -> None:
    result = edgekit("targets", "validate", broken)
    assert result.exit_code == 2
    assert result.stdout == f"{broken}:6: limits.opset_mx: no such key, did you mean opset_max?\n"


def test_validate_as_json_says_the_same(edgekit, broken: Path) -> None:
    result = edgekit("targets", "validate", broken, "--json")
    assert result.exit_code == 2
    data = json.loads(result.stdout)
    assert data["valid"] is False
    assert data["files"][0]["problems"] == [
        {"file": str(broken), "line": 6, "key": "limits.opset_mx", "message": "no such key", "suggestion": "opset_max"}
    ]


def test_validate_of_a_good_profile_says_so(edgekit, broken: Path) -> None:
    broken.write_text(BROKEN.replace("opset_mx", "opset_max"), encoding="utf-8")
    result = edgekit("targets", "validate", broken)
    assert (result.exit_code, result.stdout) == (0, f"{broken}: a valid profile\n")


def test_validate_of_no_file_is_wrong_usage(edgekit) -> None:
    assert edgekit("targets", "validate").exit_code == 2
