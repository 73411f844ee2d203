"""Lists of operators: those that are shipped, and what is said of one that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx.defs
import pytest

from edgekit import target
from edgekit.errors import TargetError
from edgekit.target import OperatorList, document, finding, operators

LISTS = sorted((finding.shipped() / operators.FOLDER).glob("*.yaml"))
KNOWN = {s.name.lower() for s in onnx.defs.get_all_schemas_with_history() if s.domain == ""}
Writer = Callable[..., Path]

every_list = pytest.mark.parametrize("file", LISTS, ids=lambda f: f.stem)


@every_list
def test_a_shipped_list_is_valid_and_says_who_says_so_of_which_version(file: Path) -> None:
    found, problems = operators.check(document.read(file))
    assert problems == []
    assert found is not None
    assert all(text.strip() for text in (found.title, found.source, found.version))


@every_list
def test_a_shipped_list_names_operators_once_and_in_order(file: Path) -> None:
    listed = operators.read(file)
    assert len(set(listed.operators)) == len(listed.operators)
    written, _ = operators.check(document.read(file))
    assert written is not None
    assert list(written.operators) == sorted(written.operators)


@every_list
def test_a_shipped_list_names_operators_that_exist(file: Path) -> None:
    written, _ = operators.check(document.read(file))
    assert written is not None
    assert [name for name in written.operators if ":" not in name and name.lower() not in KNOWN] == []
    assert set(written.conditions) <= set(written.operators)


@every_list
def test_a_shipped_list_is_some_profiles(file: Path) -> None:
    every = target.find_all()
    every += [t.in_precision(p) for t in every for p in t.by_precision]
    assert file.stem in {t.limits.operator_list for t in every}


def test_coremls_list_is_the_one_that_onnxruntime_ships() -> None:
    listed = target.operator_list(target.load("apple-coreml"))
    assert listed is not None
    assert listed.takes("Conv")
    assert listed.takes("ArgMax")  # written Argmax there
    assert not listed.takes("QuantizeLinear")
    assert "1D/2D" in listed.conditions["Conv"]


def test_domains_are_kept_apart() -> None:
    listed = OperatorList("a", "b", "1", ("Gelu", "com.microsoft:FusedConv"))
    assert listed.takes("Gelu")
    assert listed.takes("gelu", "ai.onnx")
    assert not listed.takes("Gelu", "com.microsoft")
    assert listed.takes("FusedConv", "com.microsoft")


def test_a_list_that_is_not_there_is_told_with_the_nearest(folder: Path, write: Writer) -> None:
    file = write(folder, "board", "limits: {operator_list: migrafx}\n")
    (problem,) = target.validate(file)
    assert (problem.line, problem.key, problem.suggestion) == (5, "limits.operator_list", "migraphx")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("title: a\nsource: b\nversion: '1'\noperatros: [Conv]\n", 4, "no such key, did you mean operators?"),
        ("title: a\nsource: b\nversion: '1'\n", 1, "needs either operators or shipped"),
        ("title: a\nversion: '1'\noperators: [Conv]\n", 1, "source: is missing"),
        ("title: a\nsource: b\nversion: 1\noperators: [Conv]\n", 3, "must be text"),
    ],
)
def test_a_list_that_is_wrong_is_told_with_its_line(
    folder: Path, write: Writer, text: str, line: int, said: str
) -> None:
    (folder / operators.FOLDER).mkdir()
    (folder / operators.FOLDER / "acme.yaml").write_text(text)
    with pytest.raises(TargetError) as caught:
        target.load(write(folder, "board", "limits: {operator_list: acme}\n"))
    assert f"acme.yaml:{line}: " in str(caught.value)
    assert said in str(caught.value)


def test_a_list_beside_the_profile_comes_first(folder: Path, write: Writer) -> None:
    (folder / operators.FOLDER).mkdir()
    text = "title: mine\nsource: me\nversion: '1'\noperators: [Conv]\n"
    (folder / operators.FOLDER / "openvino.yaml").write_text(text)
    listed = target.operator_list(target.load(write(folder, "board", "limits: {operator_list: openvino}\n")))
    assert listed is not None
    assert listed.title == "mine"


def test_a_profile_says_it_in_one_way(tmp_path: Path, write: Writer) -> None:
    both = "limits: {operator_list: openvino, supported_operators: [Conv]}\n"
    (problem,) = target.validate(write(tmp_path, "board", both))
    assert "say the same: keep one" in problem.message
