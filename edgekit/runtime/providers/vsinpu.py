"""VeriSilicon NPUs through TIM-VX, as on NXP i.MX 8M Plus.

The provider has no options: onnxruntime/core/providers/vsinpu/vsinpu_provider_factory.cc, microsoft/onnxruntime#20903.
"""

from edgekit.runtime.providers.known import Known

KNOWN = Known("VSINPUExecutionProvider", "onnxruntime")
