"""A broken profile is refused with its line, its key and the nearest that is valid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from edgekit import target
from edgekit.errors import TargetError

Writer = Callable[..., Path]

# what is written below the four lines of conftest's BOARD; line, key, message, suggestion

BROKEN = {
    "a mistyped key": ("limits:\n  opset_mx: 20\n", 6, "limits.opset_mx", "no such key", "opset_max"),
    "a mistyped key at the top": ("devise: npu\n", 5, "devise", "no such key", "device"),
    "a key of nothing": ("colour: red\n", 5, "colour", "no such key", None),
    "a wrong choice": ("device: nqu\n", 5, "device", "must be one of cpu, gpu, npu", "npu"),
    "a number as text": ('limits: {opset_max: "20"}\n', 5, "limits.opset_max", "must be a whole number", "20"),
    "text as a number": ("session_options:\n  a: 0\n", 6, "session_options.a", "must be text", '"0"'),
    "a bool as a limit": ("limits: {batch: true}\n", 5, "limits.batch", "must be a whole number", None),
    "a number below one": ("limits: {batch: 0}\n", 5, "limits.batch", "must be a whole number from 1", None),
    "a word for a list": ("architecture: arm64\n", 5, "architecture", "must be a list", '["arm64"]'),
    "a wrong item": ("links:\n  - a\n  - 7\n", 7, "links[1]", "must be text", '"7"'),
    "a list for a mapping": ("limits: [20]\n", 5, "limits", "must hold keys such as opset_min", None),
    "text for a mapping": ("environment: A=1\n", 5, "environment", "must map names to values", None),
    "a missing key": ("facts: {ram: {value: 4 GB}}\n", 5, "facts.ram.source", "is missing", None),
    "a duplicate key": ("device: cpu\nnote: x\ndevice: npu\n", 7, "device", "stands on line 5 already", None),
    "a key without a value": ("note: x\nfamily:\n", 6, "family", "has no value", None),
    "a range that is none": ('onnxruntime: "1.17+"\n', 5, "onnxruntime", "must be a range such as >=1.17,<2", None),
    "limits that exclude all": ("limits: {opset_min: 9, opset_max: 8}\n", 5, "limits", "opset_min 9 is above", None),
    "an unknown parent": ("extends: cpu-famly\n", 5, "extends", "there is no profile", "cpu-family"),
    "a source for nothing": ("sources: {titel: me}\n", 5, "sources.titel", "no such key to give a source", "title"),
    "a mistyped override": (
        "images:\n  a:\n    onnxruntime: 1.22.0\n    providers: []\n    override: {devise: cpu}\n",
        9,
        "images.a.override.devise",
        "no such key",
        "device",
    ),
    "an issue's number lost": ("note: see a#1, #2\n", 5, "note", "for a comment", '"see a#1, #2"'),
    "an open bracket": ("links: [a\n", 6, "", "is not YAML", None),
    "a tab": ("limits:\n\topset_max: 20\n", 6, "", "is not YAML", None),
    "an unknown tag": ("note: !python/name:os.system x\n", 5, "", "is not YAML", None),
    "an alias": ("limits: &a {batch: 1}\nscheme: *a\n", 5, "", "an alias", None),
    "a control character": ("note: \x07\n", 5, "", "is not YAML", None),
    "an impossible date": ("note: 2026-13-01\n", 5, "", "is not YAML", None),
}


@pytest.mark.parametrize("case", BROKEN, ids=lambda c: c.replace(" ", "-"))
def test_a_broken_profile_is_told_with_line_key_and_the_nearest_valid(tmp_path: Path, write: Writer, case: str) -> None:
    text, line, key, message, suggestion = BROKEN[case]
    (problem,) = target.validate(write(tmp_path, "board", text))
    assert (problem.line, problem.key, problem.suggestion) == (line, key, suggestion)
    assert message in problem.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("- a\n- b\n", "must hold keys such as name"),
        ("[" * 5000, "is nested too deep"),
        ("name: board\n---\nname: other\n", "is not YAML"),
    ],
)
def test_a_file_that_is_no_profile_is_told_in_one_problem(
    tmp_path: Path, write: Writer, text: str, message: str
) -> None:
    (problem,) = target.validate(write(tmp_path, "board", text, base=""))
    assert message in problem.message


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    file.write_bytes(b"name: board\ntitle: \xff\xfe\n")
    (problem,) = target.validate(file)
    assert (problem.line, problem.message) == (2, "is not UTF-8 text")


def test_all_that_is_missing_is_told_at_once(tmp_path: Path, write: Writer) -> None:
    problems = target.validate(write(tmp_path, "board", "name: board\n", base=""))
    assert [p.key for p in problems] == ["precision", "provider", "title"]


def test_a_name_that_is_not_the_files_is_refused_since_it_would_not_be_found(tmp_path: Path, write: Writer) -> None:
    file = write(tmp_path, "board").rename(tmp_path / "other.yaml")
    (problem,) = target.validate(file)
    assert (problem.line, problem.key, problem.suggestion) == (1, "name", "other")


def test_loading_a_broken_profile_names_file_line_key_and_suggestion(tmp_path: Path, write: Writer) -> None:
    file = write(tmp_path, "board", "limits:\n  opset_mx: 20\n  batch: 0\n")
    with pytest.raises(TargetError) as caught:
        target.load(file)
    assert str(caught.value) == f"{file}:6: limits.opset_mx: no such key, did you mean opset_max? (and 1 more)"
    assert caught.value.hint == f"edgekit targets validate {file}"


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="does not exist"):
        target.validate(tmp_path / "board.yaml")
