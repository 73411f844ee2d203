"""Run in an environment with onnxruntime-ep-openvino: what the provider takes of a model, as JSON.

python openvino_assignment.py MODEL [off|all]  ->  {"OpenVINOExecutionProvider": ["conv_0", ...], ...}
"""

import json
import sys
from collections import defaultdict

import onnxruntime as ort
import onnxruntime_ep_openvino as openvino

NAME = "OpenVINOExecutionProvider"

ort.register_execution_provider_library(NAME, openvino.get_library_path())
options = ort.SessionOptions()
options.log_severity_level = 4
options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
if sys.argv[2] == "off":
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
options.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == NAME][:1], {})
session = ort.InferenceSession(sys.argv[1], options)
nodes = defaultdict(list)
for subgraph in session.get_provider_graph_assignment_info():
    nodes[subgraph.ep_name] += [node.name for node in subgraph.get_nodes()]
print(json.dumps(nodes))
