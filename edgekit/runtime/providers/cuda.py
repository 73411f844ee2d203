"""NVIDIA GPUs. `since`: measured with the Linux wheels 1.17.1 to 1.22.0, in whose library a name is or is not."""

from edgekit.runtime.providers.known import BOOLEAN, Known, Option, options

GUIDE = "microsoft/onnxruntime docs/execution-providers/CUDA-ExecutionProvider.md"
HEADER = "microsoft/onnxruntime include/onnxruntime/core/providers/cuda/cuda_provider_options.h"
WHEELS = "measured with onnxruntime-gpu 1.31.1: in its library"

KNOWN = Known(
    "CUDAExecutionProvider",
    "onnxruntime",
    install="pip install onnxruntime-gpu, in the place of onnxruntime",
    options=(
        *options(GUIDE, "device_id", "gpu_mem_limit"),
        Option("arena_extend_strategy", GUIDE, values=("kNextPowerOfTwo", "kSameAsRequested")),
        Option("cudnn_conv_algo_search", GUIDE, values=("EXHAUSTIVE", "HEURISTIC", "DEFAULT")),
        *options(GUIDE, "do_copy_in_default_stream", "cudnn_conv_use_max_workspace", values=BOOLEAN),
        *options(HEADER, "enable_cuda_graph", "cudnn_conv1d_pad_to_nc1d", "prefer_nhwc", values=BOOLEAN),
        *options(HEADER, "tunable_op_enable", "tunable_op_tuning_enable", values=BOOLEAN),
        Option("tunable_op_max_tuning_duration_ms", HEADER),
        *options(HEADER, "enable_skip_layer_norm_strict_mode", "use_ep_level_unified_stream", values=BOOLEAN),
        Option("use_tf32", HEADER, values=BOOLEAN, since="1.18"),
        Option("fuse_conv_bias", WHEELS, values=BOOLEAN, since="1.20"),
        Option("sdpa_kernel", WHEELS, since="1.19"),
    ),
    preload_dlls=True,
)
