"""The engines that Tern is compared with: one module each, with `load(job)`.

`job`: model (path), threads, precision, cache (a folder), inputs (name -> array), outputs (names), network (its name
in the zoo). `load` returns two functions: `run()` infers once, `results()` returns the
outputs as arrays. An engine that does not support the model raises.
"""

PEERS = {"ort": "ort", "openvino": "ov", "mnn": "mnn", "torch": "torch_eager"}  # name -> module
DEFAULT_PEERS = {"fp32": ("ort", "openvino", "mnn"), "bf16": ("openvino",)}
