"""Small models for examples, with the names, inputs and outputs of those in onnxruntime.datasets."""

import atexit
import pathlib
import shutil
import tempfile

_TEXTS = {
    "sigmoid.onnx": "graph @test_sigmoid(%x: f32[3,4,5]) -> (%y) {\n  %y = Sigmoid(%x)\n}",
    "mul_1.onnx": "graph @mul_test(%X: f32[3,2]) -> (%Y) {\n  #W: f32[3,2] = (1, 2, 3, 4, 5, 6)\n  %Y = %X * #W\n}",
    "logreg_iris.onnx": """graph @logreg_iris(%float_input: f32[3,2]) -> (%label, %probabilities) {
  %label, %scores = LinearClassifier(%float_input) {label_ints=[0, 1, 2], coefficients=[-0.6, 0.4, -0.2, 0.1, 0.8, -0.5], intercepts=[1.5, 0.2, -1.7], transform="softmax"}
  %probabilities = ZipMap(%scores) {label_ints=[0, 1, 2]}
}""",
}
_folder = None


def get_example(name):
    """Returns the path of a model: sigmoid.onnx, mul_1.onnx or logreg_iris.onnx."""
    global _folder
    if name not in _TEXTS:
        raise FileNotFoundError(f"unable to find example '{name}'; there are: {', '.join(_TEXTS)}")
    if _folder is None:
        _folder = tempfile.mkdtemp(prefix="tern_examples_")
        atexit.register(shutil.rmtree, _folder, ignore_errors=True)
    path = pathlib.Path(_folder, name)
    if not path.exists():
        from ...graph import Graph
        Graph.parse(_TEXTS[name]).save(path)
    return str(path)
