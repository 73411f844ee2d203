"""AMD GPUs through ROCm MIGraphX: built into onnxruntime up to ROCm 7.14, as a plugin with other names since."""

from edgekit.runtime.providers.known import BOOLEAN, NEVER, Caching, Known, Option, options

GUIDE = "onnxruntime/onnxruntime-ep-amdgpu docs/MIGraphX-ExecutionProvider.md"
OPTIONS = "onnxruntime/onnxruntime-ep-amdgpu src/migraphx/mgx_options.h"
VARIABLES = "onnxruntime/onnxruntime-ep-amdgpu src/migraphx/mgx_ep.h"
GONE = "removed in ROCm 6.4: microsoft/onnxruntime#25379"
READS = ("ORT_MIGRAPHX_", "MIGRAPHX_", "HIP_", "HSA_", "ROCR_")
COMPUTE_MODES = ("eager", "balanced", "maximum", "0", "50", "100")

# what the MIGraphX library itself reads, below either form of the provider
LIBRARY = (
    Option("MIGRAPHX_DISABLE_WINOGRAD", "ROCm/AMDMIGraphX#5234", values=("0", "1")),
    Option("MIGRAPHX_SKIP_BENCHMARKING", "ROCm/AMDMIGraphX#5234", values=("0", "1")),
)

BUILT_IN = Known(
    "MIGraphXExecutionProvider",
    "ROCm",
    install="ROCm with its MIGraphX packages, for libmigraphx_c",
    caching=Caching(
        GUIDE,
        options={"migraphx_model_cache_dir": "${cache}"},
        environment=("ORT_MIGRAPHX_MODEL_CACHE_PATH", "ORT_MIGRAPHX_CACHE_PATH"),
        reads=READS,
    ),
    options=(
        Option("device_id", GUIDE),
        Option("migraphx_fp16_enable", GUIDE, values=BOOLEAN),
        Option("migraphx_bf16_enable", GUIDE, values=BOOLEAN, since="7.0"),
        Option("migraphx_fp8_enable", GUIDE, values=BOOLEAN, since="6.3"),
        Option("migraphx_int8_enable", GUIDE, values=BOOLEAN),
        Option("migraphx_int8_calibration_table_name", GUIDE, path=True, since="6.0"),
        Option("migraphx_int8_use_native_calibration_table", GUIDE, values=BOOLEAN, since="6.0"),
        Option("migraphx_exhaustive_tune", GUIDE, values=BOOLEAN, since="6.2"),
        Option("migraphx_mem_limit", GUIDE, since="6.4"),
        Option("migraphx_arena_extend_strategy", GUIDE, values=("kNextPowerOfTwo", "kSameAsRequested"), since="6.4"),
        Option("migraphx_model_cache_dir", GUIDE, path=True, since="6.4"),
        Option("migraphx_max_dynamic_batch", GUIDE, since="7.1"),
        Option("migraphx_compile_batches", GUIDE, since="7.2"),
        Option("migraphx_hip_graph_enable", GUIDE, values=BOOLEAN, since="7.2"),
        Option("hiprtc_disable_processes", GUIDE, values=BOOLEAN, since="7.14"),
        Option("compute_mode", GUIDE, values=COMPUTE_MODES, since="7.14"),
        Option("migraphx_save_compiled_model", GONE, until="6.4", instead="migraphx_model_cache_dir"),
        Option("migraphx_save_compiled_path", GONE, path=True, until="6.4", instead="migraphx_model_cache_dir"),
        Option("migraphx_load_compiled_model", GONE, until="6.4", instead="migraphx_model_cache_dir"),
        Option("migraphx_load_compiled_path", GONE, path=True, until="6.4", instead="migraphx_model_cache_dir"),
    ),
    environment=(
        *LIBRARY,
        Option("ORT_MIGRAPHX_FP16_ENABLE", GUIDE, values=("0", "1")),
        Option("ORT_MIGRAPHX_BF16_ENABLE", GUIDE, values=("0", "1"), since="7.0"),
        Option("ORT_MIGRAPHX_FP8_ENABLE", GUIDE, values=("0", "1"), since="6.3"),
        Option("ORT_MIGRAPHX_INT8_ENABLE", GUIDE, values=("0", "1"), since="6.0"),
        Option("ORT_MIGRAPHX_INT8_CALIBRATION_TABLE_NAME", GUIDE, path=True, since="6.0"),
        Option("ORT_MIGRAPHX_INT8_USE_NATIVE_CALIBRATION_TABLE", GUIDE, values=("0", "1"), since="6.0"),
        Option("ORT_MIGRAPHX_EXHAUSTIVE_TUNE", GUIDE, values=("0", "1"), since="6.2"),
        Option("ORT_MIGRAPHX_CACHE_PATH", GUIDE, path=True, since="6.0"),
        Option("ORT_MIGRAPHX_MODEL_CACHE_PATH", GUIDE, path=True, since="6.4"),
        Option("ORT_MIGRAPHX_MAX_DYNAMIC_BATCH", GUIDE, since="7.1"),
        Option("ORT_MIGRAPHX_COMPILE_BATCHES", GUIDE, since="7.2"),
        Option("ORT_MIGRAPHX_HIP_GRAPH_ENABLE", GUIDE, values=("0", "1"), since="7.2"),
        Option("ORT_MIGRAPHX_COMPUTE_MODE", GUIDE, values=COMPUTE_MODES, since="7.14"),
        Option("ORT_MIGRAPHX_COALESCE_IO", GUIDE, values=("0", "1"), since="7.14"),
    ),
)

PLUGIN = Known(
    "MIGraphXExecutionProvider",
    "onnxruntime-ep-migraphx",
    plugin="onnxruntime_ep_migraphx",
    # the packages of these names on PyPI are empty: facts/toolchains, "Plugin execution providers"
    install="ROCm, then onnxruntime-ep-migraphx and migraphx-libs from AMD's own index, not from PyPI",
    # neither is found by the plugin itself: ROCm/AMDMIGraphX#5235, ultralytics/nn/backends/onnx.py
    preloads=("libonnxruntime.so.1", "libmigraphx_c.so.3"),
    caching=Caching(
        "onnxruntime/onnxruntime-ep-amdgpu src/migraphx/mgx_ep.cc: the variable wins over cache_dir",
        options={"cache_dir": "${cache}"},
        environment=("ORT_MIGRAPHX_CACHE_DIR",),
        reads=READS,
    ),
    options=(
        *options(OPTIONS, "fp16_enable", "bf16_enable", "fp8_enable", "int8_enable", values=BOOLEAN),
        *options(OPTIONS, "int8_use_native_calibration_table", "exhaustive_tune", values=BOOLEAN),
        *options(OPTIONS, "int8_calibration_table_name", "cache_dir", path=True),
        *options(
            OPTIONS, "disable_caching", "force_recompile", "hip_graph_enable", "precompile_at_load", values=BOOLEAN
        ),
        *options(OPTIONS, "coalesce_io", "cpu_control_flow", "static_pad_seq", values=BOOLEAN),
        *options(OPTIONS, "device_id", "coresident_programs", "max_resident_programs", "max_dynamic_batch"),
        *options(OPTIONS, "compile_batches", "static_pad_seq_len", "static_pad_inputs", "static_pad_outputs"),
        *options(OPTIONS, "mlss_use_specific_ops", "model_arch"),
        # src/migraphx/mgx_info.cc: names alone, no numbers
        Option("compute_mode", OPTIONS, values=("eager", "balanced", "maximum")),
        # aliases with the older prefix
        *options(OPTIONS, "migraphx_fp16_enable", "migraphx_bf16_enable", "migraphx_fp8_enable", values=BOOLEAN),
        *options(OPTIONS, "migraphx_int8_enable", "migraphx_exhaustive_tune", values=BOOLEAN),
        *options(OPTIONS, "migraphx_int8_use_native_calibration_table", values=BOOLEAN),
        *options(OPTIONS, "migraphx_int8_calibration_table_name", path=True),
        # no aliases, by intent
        Option("migraphx_model_cache_dir", OPTIONS, path=True, until=NEVER, instead="cache_dir"),
    ),
    environment=(
        *LIBRARY,
        *options(VARIABLES, "ORT_MIGRAPHX_FP16_ENABLE", "ORT_MIGRAPHX_BF16_ENABLE", values=("0", "1")),
        *options(VARIABLES, "ORT_MIGRAPHX_FP8_ENABLE", "ORT_MIGRAPHX_INT8_ENABLE", values=("0", "1")),
        *options(VARIABLES, "ORT_MIGRAPHX_INT8_USE_NATIVE_CALIBRATION_TABLE", values=("0", "1")),
        *options(VARIABLES, "ORT_MIGRAPHX_EXHAUSTIVE_TUNE", "ORT_MIGRAPHX_HIP_GRAPH_ENABLE", values=("0", "1")),
        *options(VARIABLES, "ORT_MIGRAPHX_DISABLE_COMPILED_MODEL_CACHING", values=("0", "1")),
        *options(VARIABLES, "ORT_MIGRAPHX_FORCE_RECOMPILE", "ORT_MIGRAPHX_COALESCE_IO", values=("0", "1")),
        *options(VARIABLES, "ORT_MIGRAPHX_INT8_CALIBRATION_TABLE_NAME", path=True),
        Option("ORT_MIGRAPHX_CACHE_DIR", VARIABLES, path=True),  # wins over cache_dir
        Option("ORT_MIGRAPHX_COMPUTE_MODE", VARIABLES, values=("eager", "balanced", "maximum")),
        *options(VARIABLES, "ORT_MIGRAPHX_MAX_DYNAMIC_BATCH", "ORT_MIGRAPHX_COMPILE_BATCHES"),
        *options(VARIABLES, "ORT_MIGRAPHX_MLSS_USE_SPECIFIC_OPS", "ORT_MIGRAPHX_MODEL_ARCH"),
    ),
)
