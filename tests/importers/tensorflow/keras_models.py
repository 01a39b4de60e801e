"""Exports Keras models as SavedModels and compares TensorFlow with Tern."""

import os
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from run_model import run_model  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tensorflow as tf  # noqa: E402

keras = tf.keras


def randomise(model, seed=0):
    """Gives batch normalisation other statistics than 0 and 1, so that its conversion matters."""
    rng = np.random.default_rng(seed)
    for layer in model.submodules if hasattr(model, "submodules") else model.layers:
        if type(layer).__name__ == "BatchNormalization" and layer.built:
            weights = layer.get_weights()
            shape = weights[0].shape
            new = {"gamma": rng.uniform(0.7, 1.3, shape), "beta": rng.normal(0, 0.1, shape), "moving_mean": rng.normal(0, 0.1, shape),
                   "moving_variance": rng.uniform(0.6, 1.4, shape)}
            layer.set_weights([new[w.name] for w in layer.weights])


def compare(test, model, inputs, rtol=1e-3, atol=1e-4, signature="serving_default"):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "m")
        model.export(str(path), verbose=False)
        function = tf.saved_model.load(str(path)).signatures[signature]
        names = sorted(function.structured_input_signature[1])
        feed = dict(zip(names, inputs))
        wanted = {k: v.numpy() for k, v in function(**{k: tf.constant(v) for k, v in feed.items()}).items()}
        got = run_model(path, feed)
    test.assertEqual(sorted(got), sorted(wanted))
    for name, array in wanted.items():
        test.assertEqual(got[name].shape, array.shape)
        if array.dtype.kind == "f":
            # The tolerance is relative to the largest result, because sums of many terms cancel.
            scale = max(float(np.abs(array).max()), 1e-6)
            np.testing.assert_allclose(got[name], array, rtol=rtol, atol=atol * scale, err_msg=name)
            test.assertTrue(array.size < 2 or array.std() > 0, "the results are constant")
        else:
            np.testing.assert_array_equal(got[name], array)
