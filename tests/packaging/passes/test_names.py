from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edgekit.packaging.passes.names import NameNodes
from tests import toys


@given(st.lists(st.sampled_from(["", "a", "b", "Conv_1", "Conv_1_"]), min_size=7, max_size=7))
def test_names_become_unique_and_good_ones_are_kept(names: list[str]) -> None:
    model = toys.detector()
    for node, name in zip(model.graph.node, names, strict=True):
        node.name = name
    after = [n.name for n in NameNodes()(model).model.graph.node]
    assert all(after)
    assert len(set(after)) == len(after)
    assert all(
        new == old for i, (new, old) in enumerate(zip(after, names, strict=True)) if old and old not in names[:i]
    )
