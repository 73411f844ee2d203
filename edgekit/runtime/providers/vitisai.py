"""AMD NPUs through Vitis AI: Ryzen AI, Versal AI Edge."""

from edgekit.runtime.providers.known import Caching, Known, Option, options

GUIDE = "amd/RyzenAI-SW docs/develop/model-deployment.mdx, Vitis AI EP Options Reference Guide"
REPORT = "amd/RyzenAI-SW docs/develop/model-deployment.mdx, Operator Assignment Report"
WINDOWS_ML = "amd/ryzen-ai-documentation docs/winml/winml_ep.rst"
BEFORE = "amd/ryzen-ai-documentation 1.3 docs/modelrun.rst"
NOTES_14 = "ryzenai.docs.amd.com/en/1.4/modelrun.html"
ANALYZER = "amd/ryzen-ai-documentation docs/ai_analyzer.rst, docs/relnotes.rst 1.2"
NOTES_15 = "amd/ryzen-ai-documentation docs/relnotes.rst 1.5"

KNOWN = Known(
    "VitisAIExecutionProvider",
    "Ryzen AI",
    install="AMD's installer of the Ryzen AI Software brings it; it is not on PyPI",
    caching=Caching(
        f"{NOTES_14}; {GUIDE}: int8 is not kept with file I/O in memory",
        options={"cache_dir": "${cache}", "cache_key": "model", "enable_cache_file_io_in_mem": "0"},
        reads=("XLNX_", "VAIP_"),
    ),
    options=(
        Option("config_file", GUIDE, path=True),
        # VAIML: ultralytics/utils/export/xilinx.py
        Option("target", GUIDE, values=("X2", "X1", "VAIML")),
        Option("xclbin", GUIDE, path=True, since="1.4"),
        Option("cache_dir", NOTES_14, path=True, since="1.4"),
        Option("cache_key", NOTES_14, path=True, since="1.4"),
        Option("cacheDir", BEFORE, path=True, until="1.4", instead="cache_dir"),
        Option("cacheKey", BEFORE, path=True, until="1.4", instead="cache_key"),
        Option("enable_cache_file_io_in_mem", GUIDE, values=("0", "1")),
        Option("encryption_key", GUIDE, since="1.5"),
        Option("encryptionKey", NOTES_14, until="1.5", instead="encryption_key"),
        Option("opt_level", GUIDE, values=("0", "1", "2", "3", "65536")),
        *options(ANALYZER, "ai_analyzer_visualization", "ai_analyzer_profiling"),
        # Windows ML's build of the provider
        Option("optimize_level", WINDOWS_ML, values=("1", "2", "3")),
        # still read, and named as deprecated
        Option("log_level", GUIDE, until="1.7", instead="the session option session.log_severity_level"),
    ),
    environment=(
        # where a report of what runs on the NPU goes, inside the cache folder
        Option("XLNX_ONNX_EP_REPORT_FILE", REPORT, path=True),
        Option("XLNX_VART_FIRMWARE", NOTES_15, path=True, until="1.5", instead="the option xclbin"),
        Option("XLNX_ENABLE_CACHE", NOTES_15, values=("0", "1"), until="1.5"),
        Option("XLNX_TARGET_NAME", NOTES_15, until="1.5", instead="the option target"),
    ),
)
