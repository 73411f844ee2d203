"""Intel CPUs, GPUs and NPUs through OpenVINO: built into onnxruntime-openvino, and as a plugin with fewer options.

`since`: measured with the Linux wheels of onnxruntime-openvino 1.18.0 to 1.24.1, in whose library a name is or is not.
"""

from edgekit.runtime.providers.known import NEVER, Caching, Known, Option, options

GUIDE = "microsoft/onnxruntime docs/execution-providers/OpenVINO-ExecutionProvider.md"
WHEEL = "measured with onnxruntime-openvino 1.24.1: in its library"
PLUGIN_MEASURED = "measured with onnxruntime-ep-openvino 1.8.1"
IGNORED = f"{PLUGIN_MEASURED}: ignored with a warning"
BOOLEAN = ("true", "false", "True", "False")
READS = ("OV_", "OPENVINO_", "ORT_OPENVINO_")
DEVICE = "the device that the session is given"

BUILT_IN = Known(
    "OpenVINOExecutionProvider",
    "onnxruntime",
    install="pip install onnxruntime-openvino, in the place of onnxruntime",
    caching=Caching(GUIDE, options={"cache_dir": "${cache}"}, reads=READS),
    options=(
        *options(GUIDE, "device_type", "num_of_threads", "num_streams"),
        Option("cache_dir", GUIDE, path=True),
        Option("load_config", GUIDE, path=True, since="1.20"),
        Option("reshape_input", GUIDE, since="1.23"),
        Option("layout", GUIDE, since="1.23"),
        Option("precision", GUIDE, values=("FP32", "FP16", "ACCURACY")),
        Option("model_priority", GUIDE, values=("LOW", "MEDIUM", "HIGH", "DEFAULT")),
        Option("disable_dynamic_shapes", GUIDE, values=BOOLEAN),
        Option("enable_qdq_optimizer", GUIDE, values=BOOLEAN, since="1.19"),
        Option("enable_opencl_throttling", WHEEL, values=BOOLEAN),
        Option("enable_causallm", WHEEL, values=BOOLEAN, since="1.22"),
        Option("device_id", WHEEL),
        Option("device_luid", WHEEL, since="1.22"),
    ),
)

# It takes an unknown option without a word. The variables that its library reads are not documented: none is here.
PLUGIN = Known(
    "OpenVINOExecutionProvider",
    "onnxruntime-ep-openvino",
    plugin="onnxruntime_ep_openvino",
    install="pip install onnxruntime-ep-openvino",
    caching=Caching(PLUGIN_MEASURED, options={"load_config": '{"CPU": {"CACHE_DIR": "${cache}"}}'}, reads=READS),
    options=(
        Option("load_config", PLUGIN_MEASURED, path=True),  # JSON: {"CPU": {"CACHE_DIR": "${cache}"}}
        Option("reshape_input", PLUGIN_MEASURED),
        *options(PLUGIN_MEASURED, "enable_causallm", "hint_enable_gqa", values=(*BOOLEAN, "1", "0")),
        *(Option(n, IGNORED, until=NEVER, instead=DEVICE) for n in ("device_type", "device_id", "device_luid")),
        *(
            Option(name, IGNORED, until=NEVER, instead=f"{key} in load_config")
            for name, key in (
                ("cache_dir", "CACHE_DIR"),
                ("precision", "INFERENCE_PRECISION_HINT"),
                ("num_of_threads", "INFERENCE_NUM_THREADS"),
                ("num_streams", "NUM_STREAMS"),
                ("model_priority", "MODEL_PRIORITY"),
                ("enable_opencl_throttling", "PLUGIN_THROTTLE"),
                ("enable_qdq_optimizer", "NPU_QDQ_OPTIMIZATION"),
            )
        ),
    ),
)
