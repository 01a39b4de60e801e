"""Converts fitted estimators to ONNX with skl2onnx and onnxmltools."""

import warnings

import numpy as np

OPSETS = {"": 18, "ai.onnx.ml": 3}


def input_types(data, f64):
    from skl2onnx.common import data_types as types
    kinds = {"f": types.DoubleTensorType if f64 else types.FloatTensorType, "i": types.Int64TensorType,
             "O": types.StringTensorType}
    return [(name, kinds[x.dtype.kind]([None, x.shape[1]])) for name, x in data.test.items()]


def sklearn(case, model, data):
    from skl2onnx import convert_sklearn
    options = dict(case.options)
    if case.zipmap is not None:
        options["zipmap"] = case.zipmap
    per_model = {id(model): options} if options else None
    return convert_sklearn(model, initial_types=input_types(data, case.f64), options=per_model, target_opset=OPSETS)


def boosted(which):
    """Returns a converter for estimators of LightGBM or XGBoost."""
    def convert(case, model, data):
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType
        types = [("X", FloatTensorType([None, data.test["X"].shape[1]]))]
        zipmap = {} if case.zipmap is None or which == "xgboost" else {"zipmap": case.zipmap}
        return getattr(onnxmltools, f"convert_{which}")(model, initial_types=types, target_opset=15, **zipmap, **case.options)
    return convert


def registered(case, model, data):
    """Converts a scikit-learn pipeline that contains estimators of LightGBM or XGBoost. First registers the converters
    of these estimators with skl2onnx."""
    import lightgbm
    import xgboost
    from onnxmltools.convert.lightgbm.operator_converters.LightGbm import convert_lightgbm
    from onnxmltools.convert.xgboost.operator_converters.XGBoost import convert_xgboost
    from skl2onnx import update_registered_converter
    from skl2onnx.common.shape_calculator import (calculate_linear_classifier_output_shapes,
                                                  calculate_linear_regressor_output_shapes)
    both = {"options": {"nocl": [True, False], "zipmap": [True, False, "columns"]}}
    for name, cls, converter in (("LightGbmLGBM", "LGBM", convert_lightgbm), ("XGBoostXGB", "XGB", convert_xgboost)):
        home = lightgbm if cls == "LGBM" else xgboost
        update_registered_converter(getattr(home, cls + "Classifier"), name + "Classifier",
                                    calculate_linear_classifier_output_shapes, converter, **both)
        update_registered_converter(getattr(home, cls + "Regressor"), name + "Regressor",
                                    calculate_linear_regressor_output_shapes, converter)
    return sklearn(case, model, data)


CONVERTERS = {"sklearn": sklearn, "lightgbm": boosted("lightgbm"), "xgboost": boosted("xgboost"), "registered": registered}


def accept_booleans():
    """Works around a bug of skl2onnx 1.20. For HistGradientBoosting, it stores booleans in attributes that are lists of
    integers. protobuf 7 refuses such lists."""
    from onnx import helper
    make = helper.make_attribute
    if make.__name__ == "with_integers":
        return

    def with_integers(key, value, *rest, **named):
        if isinstance(value, (list, tuple)) and any(isinstance(v, (bool, np.bool_)) for v in value):
            value = [int(v) for v in value]
        return make(key, value, *rest, **named)

    helper.make_attribute = with_integers


def use_plain_locale(model):
    """Sets the locale of StringNormalizer nodes to C.UTF-8. onnxruntime's default is en_US.UTF-8, which is not
    installed on many machines."""
    for node in model.graph.node:
        if node.op_type == "StringNormalizer" and not any(a.name == "locale" for a in node.attribute):
            attribute = node.attribute.add()
            attribute.name, attribute.type, attribute.s = "locale", attribute.STRING, b"C.UTF-8"
    return model


def to_onnx(case, data):
    """Fits the estimator and returns its ONNX model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        accept_booleans()
        model = case.make()
        if data.target is None:
            model.fit(data.train)
        else:
            model.fit(data.train, data.target)
        return use_plain_locale(CONVERTERS[case.converter](case, model, data))


def feeds(case, data):
    """Returns a dict from input name to test rows. Float rows are double if the model is double."""
    out = {}
    for name, x in data.test.items():
        out[name] = x.astype(np.float64) if case.f64 and x.dtype.kind == "f" else x
    return out
