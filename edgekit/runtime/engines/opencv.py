"""OpenCV's `cv2.dnn`, for boards with OpenCV and no onnxruntime. It runs on the CPU.

Measured: 4.14 and 5.1 read yolov8n, yolo11n-pose, yolox_nano, efficientnet_lite0, FastestDet and ultraface of the zoo;
4.14 reads neither yolov5n nor int8 with ConvInteger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from edgekit.errors import DependencyError, ProviderError, UsageError
from edgekit.manifest import Interface

NAME = "OpenCV"
SENTENCE = 200  # characters of OpenCV's own words in one of ours


class OpenCvSession:
    """A network of cv2.dnn with the methods of an `onnxruntime.InferenceSession` that a `Model` calls.

    What the model takes and gives comes from its package: OpenCV tells no shapes, dtypes or metadata.
    """

    def __init__(self, model: Path, interface: Interface) -> None:
        """Read the network.

        Raises:
            DependencyError: OpenCV is not installed.
            ProviderError: OpenCV cannot read the model.
        """
        self._cv2 = _cv2()
        self._inputs = {spec.name: np.dtype(spec.dtype) for spec in interface.inputs}
        try:
            self._net = self._cv2.dnn.readNetFromONNX(str(model))
        except (self._cv2.error, SystemError) as e:
            raise ProviderError(f"{self._called} cannot read {model}: {_said(e)}", hint="--engine onnxruntime") from e
        found, wanted = set(self._net.getUnconnectedOutLayersNames()), {spec.name for spec in interface.outputs}
        if not wanted <= found:
            raise ProviderError(
                f"{self._called} reads {model} with the outputs {', '.join(sorted(found))}, not "
                + ", ".join(sorted(wanted)),
                hint="--engine onnxruntime",
            )

    def run(self, names: Sequence[str], feed: Mapping[str, Any]) -> list[Any]:
        """The outputs in the order of `names`.

        Raises:
            UsageError: an input is missing or too many.
            ProviderError: the network fails.
        """
        if set(feed) != set(self._inputs):
            raise UsageError(f"the model takes {', '.join(self._inputs)}, not {', '.join(feed)}")
        try:
            for name, array in feed.items():
                self._net.setInput(np.asarray(array, self._inputs[name]), name)
            # the arrays are the network's own: the next run overwrites them
            return [np.array(output) for output in self._net.forward(list(names))]
        except self._cv2.error as e:
            raise ProviderError(f"{self._called} failed while running: {_said(e)}", hint="--engine onnxruntime") from e

    def get_providers(self) -> list[str]:
        """The one engine."""
        return [NAME]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """It takes none."""
        return {NAME: {}}

    @property
    def _called(self) -> str:
        return f"OpenCV {self._cv2.__version__}"


def _cv2() -> Any:
    try:
        import cv2
    except ImportError as e:
        raise DependencyError(
            f"--engine opencv needs OpenCV, which is not installed or cannot load: {e}",
            hint='pip install "edgekit[vision]"',
        ) from e
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # what fails is raised too
    return cv2


def _said(failure: Exception) -> str:
    """OpenCV's reason, without the place in its sources."""
    text = " ".join(str(failure).split())
    return text.rpartition("error: ")[2][:SENTENCE]
