"""The modules from which programs import onnxruntime's exceptions and options."""
