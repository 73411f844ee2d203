"""What it costs to hand tensors over: `session.run`, a binding made for the run, and one that is kept.

The model adds a tensor to itself. All three take turns in one process, with one thread; microseconds, medians.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper

from edgekit.runtime import binding, session

SIZES = {10: 400, 100_000: 400, 705_600: 200, 4_000_000: 60}  # elements: rounds


def doubler(count: int) -> bytes:
    """y = x + x."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [count])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [count])]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "doubler", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data: bytes = model.SerializeToString()
    return data


def ways(count: int) -> dict[str, Callable[[], object]]:
    """The three, over the same session."""
    opened = session.create(doubler(count), threads=1)
    x, y = np.ones(count, np.float32), np.empty(count, np.float32)
    kept = opened.io_binding()
    kept.bind_cpu_input("x", x)
    kept.bind_output("y", "cpu", 0, np.float32, [count], y.ctypes.data)
    return {
        "session.run": lambda: opened.run(["y"], {"x": x}),
        "binding made": lambda: binding.run(opened, {"x": x}, out={"y": y}),
        "binding kept": lambda: opened.run_with_iobinding(kept),
    }


def main() -> None:
    """Print a row for each size."""
    print(f"{'elements':>10}  " + "  ".join(f"{name:>14}" for name in ways(1)))
    for count, rounds in SIZES.items():
        taken: dict[str, list[float]] = {}
        all_ways = ways(count)
        for _ in range(rounds):
            for name, way in all_ways.items():
                start = time.perf_counter()
                way()
                taken.setdefault(name, []).append(time.perf_counter() - start)
        print(f"{count:>10}  " + "  ".join(f"{statistics.median(t) * 1e6:>14.1f}" for t in taken.values()))


if __name__ == "__main__":
    main()
