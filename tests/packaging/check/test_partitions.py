from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from edgekit.packaging.check.partitions import partition


def test_a_chain_that_leaves_and_comes_back_makes_two() -> None:
    chain = {"a": [], "b": ["a"], "c": ["b"]}
    assert partition(chain, {"a", "c"}) == [{"a"}, {"c"}]


def test_a_branch_outside_that_needs_nothing_inside_divides_nothing() -> None:
    graph = {"outside": [], "a": [], "b": ["a", "outside"]}
    assert partition(graph, {"a", "b"}) == [{"a", "b"}]


def test_a_way_out_and_back_divides_even_where_a_direct_way_exists() -> None:
    graph = {"a": [], "outside": ["a"], "b": ["a", "outside"]}
    assert partition(graph, {"a", "b"}) == [{"a"}, {"b"}]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, list[str]], set[str]]:
    names = [str(i) for i in range(draw(st.integers(0, 14)))]
    graph = {
        name: draw(st.lists(st.sampled_from(names[:i]), max_size=3, unique=True)) if i else []
        for i, name in enumerate(names)
    }
    return graph, {name for name in names if draw(st.booleans())}


@given(graphs())
def test_groups_cover_what_is_placed_and_none_waits_for_itself(given_: tuple[dict[str, list[str]], set[str]]) -> None:
    graph, placed = given_
    groups = partition(graph, placed)
    assert sorted(n for g in groups for n in g) == sorted(placed)
    home = {name: str(sorted(group)) for group in groups for name in group}
    contracted: dict[str, set[str]] = {home.get(n, n): set() for n in graph}
    for name, sources in graph.items():
        node = home.get(name, name)
        contracted[node] |= {home.get(s, s) for s in sources} - {node}
    while ready := [n for n, needs in contracted.items() if not needs]:
        for name in ready:
            del contracted[name]
        for needs in contracted.values():
            needs.difference_update(ready)
    assert contracted == {}


@given(graphs())
def test_all_inside_makes_as_many_as_the_graph_has_parts(given_: tuple[dict[str, list[str]], set[str]]) -> None:
    graph, _ = given_
    parts: list[set[str]] = []
    for name, sources in graph.items():
        touched = [p for p in parts if p & set(sources)]
        parts = [p for p in parts if p not in touched] + [set().union({name}, *touched)]
    assert sorted(map(sorted, partition(graph, set(graph)))) == sorted(map(sorted, parts))


def test_two_groups_do_not_wait_for_each_other_by_different_ways() -> None:
    graph = {"a": [], "b": [], "out": ["a"], "c": ["out", "b"], "d": ["a", "c"]}
    groups = partition(graph, {"a", "b", "c", "d"})
    assert sorted(map(sorted, groups)) == [["a"], ["b", "c", "d"]]
