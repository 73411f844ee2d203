from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.cache.owner import Owner

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says when a process was started")


@linux
def test_this_process_lives_and_one_that_has_ended_does_not() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    script = f"import os; from edgekit.cache import owner; print(owner._started({child.pid}))"
    started = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    owner = replace(Owner.current(), pid=child.pid, started=started)
    assert Owner.current().alive is True
    assert owner.alive is True
    child.communicate()
    assert owner.alive is False


@linux
def test_a_process_with_a_number_that_was_given_again_is_another_one() -> None:
    assert replace(Owner.current(), started="7").alive is False


@linux
def test_a_process_of_another_boot_or_container_cannot_be_told() -> None:
    assert replace(Owner.current(), boot="ab").alive is None
    assert replace(Owner.current(), namespace="7").alive is None


@given(st.integers(0, 2**32), st.integers(1, 2**31), st.integers(1, 2**63))
def test_an_owner_comes_back_from_its_text(namespace: int, pid: int, started: int) -> None:
    owner = Owner("0a9f", str(namespace), pid, str(started))
    assert Owner.parse(str(owner)) == owner


@given(st.text(alphabet="0a-.7 ", max_size=12))
def test_any_other_text_is_no_owner(text: str) -> None:
    assert Owner.parse(text) is None or text.count("-") == 3
