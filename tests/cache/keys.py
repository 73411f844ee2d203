"""Cache keys for tests."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import strategies as st

from edgekit.cache import CacheKey

KEY = CacheKey(
    model="9f2c",
    provider="TestExecutionProvider",
    provider_version="1.8.1",
    onnxruntime="1.32.0",
    device="board 7",
    driver="5.4",
    system="Linux aarch64",
    provider_options=(("cache_dir", "${cache}"), ("precision", "fp16")),
    session_options=(("session.disable_prepacking", "1"),),
    environment=(("TEST_FAST_MATH", "1"),),
)
PARTS = [f.name for f in fields(CacheKey)]
text = st.text(max_size=12)
pairs = st.lists(st.tuples(text, text), max_size=3).map(tuple)


def keys() -> st.SearchStrategy[CacheKey]:
    return st.builds(CacheKey, **{f.name: text if f.type == "str" else pairs for f in fields(CacheKey)})


def numbered(number: int, **parts: str) -> CacheKey:
    return replace(KEY, model=f"{number:064x}", **parts)
