"""Any DirectX 12 GPU on Windows through DirectML.

`since` and `until`: measured with the Windows wheels 1.17.0 to 1.24.4. Names that are listed with NEVER exist, but as
session options: given as options of the provider they do nothing.
"""

from edgekit.runtime.providers.known import NEVER, Known, Option

CODE = "microsoft/onnxruntime onnxruntime/core/providers/dml/dml_provider_factory.cc"
WHEEL = "measured with onnxruntime-directml 1.24.4: its library has the name with the prefix ep.dml alone"
SESSION = ("enable_graph_capture", "enable_graph_serialization", "enable_cpu_sync_spinning", "disable_memory_arena")

KNOWN = Known(
    "DmlExecutionProvider",
    "onnxruntime",
    install="on Windows: pip install onnxruntime-directml, in the place of onnxruntime",
    options=(
        Option("device_id", CODE),
        Option("performance_preference", CODE, values=("default", "high_performance", "minimum_power")),
        Option("device_filter", f"{CODE}, #24068", values=("gpu", "npu", "any")),
        Option("disable_metacommands", CODE, values=("True", "true", "False", "false")),
        Option("enable_dynamic_graph_fusion", CODE, values=("True", "true", "False", "false"), until="1.18"),
        *(Option(n, WHEEL, until=NEVER, instead=f"the session option ep.dml.{n}") for n in SESSION),
    ),
)
