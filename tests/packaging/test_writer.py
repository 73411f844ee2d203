from __future__ import annotations

from pathlib import Path

import pytest

from edgekit.errors import UsageError
from edgekit.packaging import writer


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_a_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    with writer.staged(tmp_path / "a" / "out") as folder:
        (folder / "file").write_text("x")
        assert not (tmp_path / "a" / "out").exists()
    assert names(tmp_path / "a") == ["out"]
    assert names(tmp_path / "a" / "out") == ["file"]


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_nothing_behind(tmp_path: Path, failure: BaseException) -> None:
    with pytest.raises(type(failure)), writer.staged(tmp_path / "a" / "b" / "out") as folder:
        (folder / "file").write_text("x")
        raise failure
    assert names(tmp_path) == []


def test_a_failure_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("x")
    with pytest.raises(KeyboardInterrupt), writer.staged(tmp_path / "out"):
        raise KeyboardInterrupt
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


def test_a_failure_in_the_swap_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("x")
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if target.name == "out" and self.name != "was":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"), writer.staged(tmp_path / "out") as folder:
        (folder / "new").write_text("x")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


def test_what_is_there_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("x")
    with writer.staged(tmp_path / "out") as folder:
        (folder / "new").write_text("x")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["new"]


def test_a_destination_that_exists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists"):
        writer.check_destination(tmp_path, force=False)


def test_a_file_is_never_replaced_by_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(UsageError, match="is a file"):
        writer.check_destination(tmp_path / "out", force=True)
