"""Tensors in and out of a session where they are: numpy, `onnxruntime.OrtValue`, DLPack; without copies on the way.

Measured on the CPU's provider (tests/benchmarks/binding.py): a binding made for one run costs 13 us more than
`session.run` and pays for outputs of several megabytes only. So numpy goes through `session.run`,
and a binding is made where somebody gives or wants something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import UsageError
from edgekit.runtime import session as sessions

DLPACK_CPU = (1, 3)  # kDLCPU, kDLCUDAHost: dmlc/dlpack include/dlpack/dlpack.h
# how onnxruntime names the memory of a provider's devices; all others share the CPU's
MEMORY = {"CUDAExecutionProvider": "cuda", "MIGraphXExecutionProvider": "cuda", "DmlExecutionProvider": "dml"}

Tensor = Any  # a numpy array, an `onnxruntime.OrtValue`, or whatever has `__dlpack__`


def plain(feed: Mapping[str, Tensor]) -> bool:
    """Whether `session.run` takes all of it as it is."""
    return all(isinstance(value, (np.ndarray, np.generic, list)) for value in feed.values())


def run(
    session: Any,
    feed: Mapping[str, Tensor],
    *,
    out: Mapping[str, Tensor] | None = None,
    on_device: bool = False,
) -> dict[str, Any]:
    """Run with inputs and outputs bound.

    Args:
        feed: each input. A numpy array or a DLPack tensor in the CPU's memory is read in place if it is contiguous.
        out: where outputs are to be written: contiguous arrays or `OrtValue`s of the right shape and dtype. They are
            returned as they were given.
        on_device: leave the other outputs in the provider's memory, as `OrtValue`; as numpy arrays if not.

    Raises:
        UsageError: there is no such output, or what is to hold it does not fit.
    """
    ort, out = sessions.onnxruntime(), out or {}
    names = [o.name for o in session.get_outputs()]
    if unknown := [name for name in out if name not in names]:
        raise UsageError(f"the model has no output {unknown[0]!r}, it has {', '.join(names)}")
    binding = session.io_binding()
    kept = [_bind_input(ort, binding, name, value) for name, value in feed.items()]
    for tensor in session.get_outputs():
        if tensor.name in out:
            _bind_output(ort, binding, tensor, out[tensor.name])
        else:  # the provider allocates: that holds for static and for dynamic shapes
            binding.bind_output(tensor.name, _memory(session) if on_device else "cpu")
    session.run_with_iobinding(binding)
    binding.synchronize_outputs()
    del kept  # what is bound must live until here
    values = dict(zip(names, binding.get_outputs(), strict=True))
    return {name: out.get(name, value if on_device else _numpy(value)) for name, value in values.items()}


def _memory(session: Any) -> str:
    return MEMORY.get(session.get_providers()[0], "cpu")


def _numpy(value: Any) -> Any:
    """An output's array, over its own memory where DLPack is there (a sequence or text has no such form)."""
    try:
        return np.from_dlpack(value)
    except (AttributeError, TypeError, RuntimeError, BufferError):
        return value.numpy()


def _bind_input(ort: Any, binding: Any, name: str, value: Tensor) -> Any:
    """Bind one input; what is returned holds its memory."""
    if isinstance(value, ort.OrtValue):
        binding.bind_ortvalue_input(name, value)
        return value
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        if value.__dlpack_device__()[0] not in DLPACK_CPU:
            return _bind_input(ort, binding, name, _of_device(ort, value))
        value = np.from_dlpack(value)
    array = np.ascontiguousarray(value)
    binding.bind_cpu_input(name, array)
    return array


def _of_device(ort: Any, value: Any) -> Any:
    """A tensor in a device's memory, as onnxruntime sees it."""
    if not hasattr(ort.OrtValue, "from_dlpack"):
        raise UsageError(
            f"onnxruntime {ort.__version__} takes no DLPack tensor of a device: give an OrtValue, or numpy"
        )
    return ort.OrtValue.from_dlpack(value)


def _bind_output(ort: Any, binding: Any, tensor: Any, place: Tensor) -> None:
    """Bind one output to memory of the caller's."""
    if isinstance(place, ort.OrtValue):
        binding.bind_ortvalue_output(tensor.name, place)
        return
    if not isinstance(place, np.ndarray):
        raise UsageError(f"output {tensor.name} is written to a numpy array or an OrtValue, not {type(place).__name__}")
    _check(tensor, place)
    binding.bind_output(tensor.name, "cpu", 0, place.dtype, list(place.shape), place.ctypes.data)


def _check(tensor: Any, place: NDArray[Any]) -> None:
    from edgekit.runtime.interface import DTYPES

    dtype = DTYPES.get(tensor.type)
    fits = len(tensor.shape) == place.ndim and all(
        not isinstance(want, int) or want == have for want, have in zip(tensor.shape, place.shape, strict=True)
    )
    if place.dtype != dtype or not fits:
        wanted, given = f"{dtype} {tensor.shape}", f"{place.dtype} {list(place.shape)}"
        raise UsageError(f"output {tensor.name} is {wanted}, the array for it {given}")
    if not (place.flags.c_contiguous and place.flags.writeable):
        raise UsageError(f"the array for output {tensor.name} must be contiguous and writeable")
