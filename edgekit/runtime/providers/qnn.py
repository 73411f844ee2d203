"""Qualcomm NPUs through QNN, a plugin. No target is made for it; its simulator runs small models on any x86-64 CPU."""

from edgekit.runtime.providers.known import Caching, Known, Option, options

GUIDE = "microsoft/onnxruntime docs/execution-providers/QNN-ExecutionProvider.md"
WHEEL = "measured with onnxruntime-qnn 2.7.0: in its library"
SWITCH = ("0", "1")

PLUGIN = Known(
    "QNNExecutionProvider",
    "onnxruntime-qnn",
    plugin="onnxruntime_qnn",
    install="pip install onnxruntime-qnn",
    caching=Caching("measured with onnxruntime-qnn 2.7.0 and ModelCompiler", kind="context", reads=("QNN_", "ADSP_")),
    options=(
        Option("backend_path", GUIDE, path=True),  # libQnnHtp.so: the NPU, or its simulator
        Option("backend_type", WHEEL, values=("cpu", "gpu", "htp", "saver", "ir")),
        *options(GUIDE, "device_id", "soc_model", "htp_arch", "vtcm_mb", "htp_performance_mode", "profiling_level"),
        *options(GUIDE, "qnn_context_priority", "htp_graph_finalization_optimization_mode"),
        Option("profiling_file_path", GUIDE, path=True),
        *options(GUIDE, "enable_htp_fp16_precision", "offload_graph_io_quantization", values=SWITCH),
        *options(GUIDE, "enable_htp_spill_fill_buffer", "enable_htp_shared_memory_allocator", values=SWITCH),
    ),
)
