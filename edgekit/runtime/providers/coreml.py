"""Apple devices through Core ML.

Options by name came with onnxruntime 1.21: its macOS wheels up to 1.20.1 hold none of these names, 1.21.0 holds all
(measured).
An unknown name or value fails the session.
"""

from edgekit.runtime.providers.known import Caching, Known, Option

CODE = "microsoft/onnxruntime onnxruntime/core/providers/coreml/coreml_options.cc"
GUIDE = "microsoft/onnxruntime docs/execution-providers/CoreML-ExecutionProvider.md, #22958"
ON = ("0", "1")  # "1" is on, all else is off without a word

KNOWN = Known(
    "CoreMLExecutionProvider",
    "onnxruntime",
    install="on macOS: pip install onnxruntime",  # in its wheels for macOS: measured with 1.32.0
    caching=Caching(GUIDE, options={"ModelCacheDirectory": "${cache}"}),
    options=(
        Option("ModelFormat", CODE, values=("NeuralNetwork", "MLProgram"), since="1.21"),
        Option("MLComputeUnits", CODE, values=("ALL", "CPUOnly", "CPUAndGPU", "CPUAndNeuralEngine"), since="1.21"),
        Option("RequireStaticInputShapes", CODE, values=ON, since="1.21"),
        Option("EnableOnSubgraphs", CODE, values=ON, since="1.21"),
        Option("SpecializationStrategy", GUIDE, values=("Default", "FastPrediction"), since="1.21"),
        Option("ProfileComputePlan", GUIDE, values=ON, since="1.21"),
        Option("AllowLowPrecisionAccumulationOnGPU", GUIDE, values=ON, since="1.21"),
        Option("ModelCacheDirectory", GUIDE, path=True, since="1.21"),
    ),
)
