"""The session config keys of onnxruntime, which takes a mistyped one without a word (facts: toolchains, "Failures").

Measured: the names in the libraries of onnxruntime 1.17.1, 1.22.0, 1.24.3 and 1.32.0. Those that the compiler has
broken up there are from onnxruntime_session_options_config_keys.h.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from edgekit.errors import Refused, UsageError

SPINNING = "session.intra_op.allow_spinning"
RECORD_PLACEMENT = "session.record_ep_graph_assignment_info"  # from onnxruntime 1.24 on
# spinning costs 36 to 48 % more CPU time (facts: toolchains, "Import and start-up")
DEFAULTS = {SPINNING: "0", RECORD_PLACEMENT: "1"}
DISABLE_FALLBACK = "session.disable_cpu_ep_fallback"

# what a package may set: none names a file, a device or another provider's option
PORTABLE = frozenset(
    f"{area}.{name}"
    for area, names in {
        "session": "intra_op.allow_spinning inter_op.allow_spinning force_spinning_stop set_denormal_as_zero "
        "disable_prepacking disable_quant_qdq disable_double_qdq_remover disable_qdq_constant_folding "
        "enable_quant_qdq_cleanup qdqisint8allowed x64quantprecision dynamic_block_base "
        "disable_aot_function_inlining use_deterministic_compute graph_optimizations_loop_level "
        "qdq_matmulnbits_accuracy_level use_ort_model_bytes_directly use_ort_model_bytes_for_initializers",
        "optimization": "enable_gelu_approximation enable_cast_chain_elimination disable_specified_optimizers "
        "minimal_build_optimizations constant_folding_max_output_size_in_bytes",
        "memory": "enable_memory_arena_shrinkage",
        "mlas": "disable_kleidiai qnbit.force_fp32 use_lut_gemm",
    }.items()
    for name in names.split()
)

# what a user may set besides
OTHERS = frozenset(
    f"{area}.{name}"
    for area, names in {
        "session": "allow_released_opsets_only collect_node_memory_stats_to_file debug_layout_transformation "
        "disable_cpu_ep_fallback disable_model_compile enable_dq_matmulnbits_fusion fail_on_suboptimal_compiled_model "
        "inter_op.spin_backoff_max inter_op.spin_duration_us intra_op.spin_backoff_max intra_op.spin_duration_us "
        "intra_op_thread_affinities load_model_format model_external_initializers_file_folder_path "
        "node_partition_config_file optimized_model_external_initializers_file_name "
        "optimized_model_external_initializers_min_size_in_bytes qdq_matmulnbits_block_size "
        "record_ep_graph_assignment_info save_external_prepacked_constant_initializers save_model_format "
        "strict_shape_type_inference use_device_allocator_for_initializers use_env_allocators",
        "ep": "context_enable context_file_path context_embed_mode context_node_name_prefix "
        "context_model_external_initializers_file_name share_ep_contexts stop_share_ep_contexts",
    }.items()
    for name in names.split()
)
OF_A_PROVIDER = "ep."  # ep.<provider>.<option>: the provider's own


def check(keys: Iterable[str]) -> None:
    """Refuse a key that onnxruntime would take and not know.

    Raises:
        UsageError: it is in no table; the nearest one is the hint.
    """
    for key in keys:
        if key in PORTABLE or key in OTHERS or (key.startswith(OF_A_PROVIDER) and key.count(".") > 1):
            continue
        near = difflib.get_close_matches(key, sorted(PORTABLE | OTHERS), 1)
        raise UsageError(f"onnxruntime has no session option {key!r}", hint=near[0] if near else None)


def check_portable(keys: Iterable[str], variant: str) -> None:
    """Refuse what a package may not set.

    Raises:
        Refused: the key is unknown, or reaches beyond the session.
    """
    for key in keys:
        if key not in PORTABLE:
            raise Refused(f"variant {variant} sets the session option {key}, which no package may: refused")
