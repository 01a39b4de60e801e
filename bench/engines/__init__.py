"""The engines that Tern is compared with: a module each, with `load(job)`.

`job`: model (path), threads, precision, cache (a folder), inputs (name -> array), outputs (names), network (its name
in the zoo). `load` returns a pair of functions: `run()` infers once, `results()` gives the outputs as arrays
afterwards. An engine that cannot take the model raises.
"""

PEERS = {"ort": "ort", "openvino": "ov", "mnn": "mnn", "torch": "torch_eager"}  # name -> module
DEFAULT_PEERS = {"fp32": ("ort", "openvino", "mnn"), "bf16": ("openvino",)}
