"""Draws random ONNX operators, runs them in onnxruntime and in another engine, and compares."""
