"""Paths of models, and advice about the models of other frameworks, none of which is imported here."""

import os

from .errors import InvalidType

# What to do with a model. The key is the first name of the module, and the name, of its class or of a base class. The first row that
# fits counts: a ScriptModule is also a Module, and an estimator of xgboost also one of sklearn.
_ADVICE = {
    ("torch", "ExportedProgram"): 'write it with torch.export.save(program, "model.pt2") and load "model.pt2"',
    ("torch", "ScriptModule"): 'write it with torch.jit.save(model, "model.pt") and load "model.pt"',
    ("torch", "Module"): 'write it with torch.export.save(torch.export.export(model.eval(), (example,)), "model.pt2") and load "model.pt2", '
                         'or call it through torch.compile(model, backend="tern")',
    ("keras", "Model"): 'write it with model.export("folder") and load "folder"',
    ("tf_keras", "Model"): 'write it with model.export("folder") and load "folder"',
    ("tensorflow", "Model"): 'write it with tf.saved_model.save(model, "folder") and load "folder"',
    ("tensorflow", "AutoTrackable"): 'write it with tf.saved_model.save(model, "folder") and load "folder"',
    ("lightgbm", "LGBMModel"): "convert it with onnxmltools.convert_lightgbm and load the result",
    ("lightgbm", "Booster"): "convert it with onnxmltools.convert_lightgbm and load the result",
    ("xgboost", "XGBModel"): "convert it with onnxmltools.convert_xgboost and load the result",
    ("xgboost", "Booster"): "convert it with onnxmltools.convert_xgboost and load the result",
    ("sklearn", "BaseEstimator"): "convert it with skl2onnx.to_onnx(model, samples) and load the result",
}


def path_of(model, takes="a path"):
    """Returns the path of a model. Fails if `model` is not a str, bytes or os.PathLike. `takes` says what else it may be."""
    try:
        return os.fspath(model)
    except TypeError:
        pass
    bases = {(str(base.__module__).split(".")[0], base.__name__) for base in type(model).__mro__}
    advice = next((f"; {text}" for key, text in _ADVICE.items() if key in bases), "")
    raise InvalidType(f"a model is {takes}, got {type(model).__module__}.{type(model).__qualname__}{advice}")
