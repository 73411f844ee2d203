"""A name becomes a target: the order of finding, aliases, ambiguous names, parents."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from edgekit import target
from edgekit.errors import TargetError
from edgekit.target import Limits, finding

Writer = Callable[..., Path]


def install(site: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """A distribution whose only content is an entry point."""
    info = site / "acme_boards-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-boards\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[edgekit.targets]\nacme = {value}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(site))


@pytest.mark.parametrize(
    ("machine", "name"),
    [("x86_64", "cpu-x86_64"), ("AMD64", "cpu-x86_64"), ("aarch64", "cpu-arm64"), ("arm64", "cpu-arm64")],
)
def test_cpu_is_the_target_of_this_machine(monkeypatch: pytest.MonkeyPatch, machine: str, name: str) -> None:
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert target.load("cpu").name == name


def test_cpu_on_a_machine_without_a_profile_says_which_machines_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(TargetError, match=r"none is for riscv64: .*cpu-x86_64 is for x86_64/AMD64"):
        target.load("cpu")


def test_an_unknown_name_is_answered_with_the_nearest_and_where_to_look() -> None:
    with pytest.raises(TargetError, match="did you mean cpu-x86_64") as caught:
        target.load("cpu-x86-64")
    assert caught.value.exit_code == 2
    assert caught.value.hint == "edgekit targets ls"


def test_a_bare_imx_is_refused_with_what_it_could_mean() -> None:
    with pytest.raises(TargetError) as caught:
        target.load("imx")
    assert caught.value.exit_code == 2
    for word in ("nxp-imx8mp", "nxp-imx93", "nxp-imx95", "Sony IMX500"):
        assert word in str(caught.value)


def test_an_abstract_parent_is_no_target() -> None:
    with pytest.raises(TargetError, match="cpu-family is what other profiles extend"):
        target.load("cpu-family")


def test_a_profile_can_say_that_its_own_name_is_ambiguous(folder: Path, write: Writer) -> None:
    write(
        folder, "jetson", "name: jetson\nabstract: true\nmeanings: [{what: Nano}, {what: Orin, targets: [orin]}]\n", ""
    )
    with pytest.raises(TargetError, match=r"jetson could mean Nano, or Orin \(orin\)"):
        target.load("jetson")


def test_a_path_is_taken_as_it_is(tmp_path: Path, write: Writer) -> None:
    file = write(tmp_path / "b@home", "board")
    assert target.load(file).file == file
    assert target.load(str(file)).name == "board"


def test_profiles_are_found_in_the_documented_order(
    tmp_path: Path, own_configuration: Path, monkeypatch: pytest.MonkeyPatch, write: Writer
) -> None:
    first, second, site = tmp_path / "first", tmp_path / "second", tmp_path / "site"
    expected = [
        write(first, "cpu-x86_64"),
        write(second, "cpu-x86_64"),
        write(own_configuration / "targets", "cpu-x86_64"),
        write(site / "acme_boards", "cpu-x86_64"),
        finding.shipped() / "cpu-x86_64.yaml",
    ]
    monkeypatch.setenv(finding.FOLDERS_VARIABLE, os.pathsep.join([str(first), str(second)]))
    install(site, monkeypatch, "acme_boards")
    found = []
    for file in expected:
        found.append(target.load("cpu-x86_64").file)
        if file.parent != finding.shipped():
            file.unlink()
    assert found == expected


@pytest.mark.parametrize("value", ["acme_boards.profiles", "acme_boards:profiles"])
def test_a_third_party_ships_yaml_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Writer, value: str
) -> None:
    write(tmp_path / "acme_boards" / "profiles", "acme-one")
    install(tmp_path, monkeypatch, value)
    assert "acme-one" in [t.name for t in target.find_all()]
    assert "acme_boards" not in sys.modules


def test_an_entry_point_that_leads_nowhere_is_told_and_hinders_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, "acme_bords")
    survey = target.survey()
    assert any("acme = acme_bords" in warning for warning in survey.warnings)
    assert target.load("cpu-arm64").name == "cpu-arm64"


def test_a_folder_that_does_not_exist_is_not_passed_over_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(finding.FOLDERS_VARIABLE, str(tmp_path / "profils"))
    with pytest.raises(TargetError, match=r"EDGEKIT_TARGETS names .*profils, which is not a folder"):
        target.find_all()


def test_one_broken_profile_leaves_the_others_usable(folder: Path, write: Writer) -> None:
    write(folder, "board", "devise: npu\n")
    survey = target.survey()
    assert [p.key for p in survey.problems] == ["devise"]
    assert "cpu-arm64" in [t.name for t in survey.targets]
    assert "board" not in [t.name for t in survey.targets]


def test_a_child_takes_over_what_it_does_not_say(folder: Path, write: Writer) -> None:
    write(folder, "parent", "limits: {opset_max: 17, batch: 1}\nonnxruntime: '>=1.20'\n")
    child = write(folder, "child", "name: child\nextends: parent\ntitle: Child\nlimits: {opset_max: 19}\n", "")
    loaded = target.load(child)
    assert loaded.limits == Limits(opset_max=19, batch=1)
    assert (loaded.name, loaded.title, loaded.onnxruntime) == ("child", "Child", ">=1.20")


def test_a_null_takes_the_parents_value_away(folder: Path, write: Writer) -> None:
    write(folder, "parent", "limits: {opset_max: 17, batch: 1}\n")
    child = write(folder, "child", "name: child\nextends: parent\nlimits: {batch: null}\n", "")
    assert target.load(child).limits == Limits(opset_max=17)


def test_a_source_does_not_outlive_what_it_was_for(folder: Path, write: Writer) -> None:
    write(folder, "parent", "limits: {opset_max: 17, ir_max: 8}\nsources: {limits: a manual}\n")
    child = write(folder, "child", "name: child\nextends: parent\nlimits: {opset_max: 19}\n", "")
    assert dict(target.load(child).sources) == {"limits.ir_max": "a manual"}


def test_a_profile_may_extend_the_one_that_it_stands_before(folder: Path, write: Writer) -> None:
    write(folder, "cpu-arm64", "name: cpu-arm64\nextends: cpu-arm64\nnote: mine\n", "")
    loaded = target.load("cpu-arm64")
    assert (loaded.note, loaded.limits.opset_max, loaded.file) == ("mine", 20, folder / "cpu-arm64.yaml")


def test_parents_in_a_circle_are_refused_with_the_way_round(folder: Path, write: Writer) -> None:
    for name, parent in (("a", "b"), ("b", "c"), ("c", "a")):
        write(folder, name, f"extends: {parent}\n")
    with pytest.raises(TargetError, match="extends: goes round in a circle: a -> b -> c -> a"):
        target.load("a")


def test_a_problem_in_a_parent_is_told_with_the_parents_line(folder: Path, write: Writer) -> None:
    parent = write(folder, "parent", "limits:\n  opset_mx: 17\n")
    child = write(folder, "child", "name: child\nextends: parent\n", "")
    (problem,) = target.validate(child)
    assert (problem.file, problem.line, problem.key) == (parent, 6, "limits.opset_mx")
