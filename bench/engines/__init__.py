"""The engines that Tern is compared with. Each engine is a module with a function `load(job)`.

`job` has the fields model (path), threads, precision, cache (a folder), inputs (name -> array), outputs (names) and
network (its name in the zoo). `load` returns two functions. `run()` runs the model once. `results()` returns the outputs
of the last run as arrays. `load` raises an exception if the engine does not support the model.
"""

PEERS = {"ort": "ort", "openvino": "ov", "mnn": "mnn", "torch": "torch_eager"}  # name -> module
DEFAULT_PEERS = {"fp32": ("ort", "openvino", "mnn"), "bf16": ("openvino",)}
