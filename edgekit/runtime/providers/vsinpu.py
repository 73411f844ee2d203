"""VeriSilicon NPUs through TIM-VX, as on NXP i.MX 8M Plus.

The provider has no options: onnxruntime/core/providers/vsinpu/vsinpu_provider_factory.cc, microsoft/onnxruntime#20903.
"""

from edgekit.runtime.providers.known import Known

# facts/targets, "NXP": its recipe builds it in from 6.12 on; no wheel has it
KNOWN = Known(
    "VSINPUExecutionProvider",
    "onnxruntime",
    install="an NXP Linux image 6.12 or newer brings it; it is not on PyPI",
)
