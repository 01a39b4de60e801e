"""Writes the sample models in samples/, which the default tests run without TensorFlow."""

import os
import pathlib
import shutil
import tempfile

import numpy as np
from keras_models import keras
from op_cases import f, tf, v1
from snappy_index import rewrite

from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

SAMPLES = pathlib.Path(__file__).resolve().parent / "samples"


def folder_of(name):
    folder = SAMPLES / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def store(folder, inputs, outputs):
    np.savez(folder / "data.npz", **{f"in.{k}": v for k, v in inputs.items()}, **{f"out.{k}": v for k, v in outputs.items()})


def frozen(name, model, x, text=False, lower=True):
    """Freezes a Keras model. Its input is called x."""
    spec = tf.TensorSpec([None, *x.shape[1:]], tf.float32, name="x")
    function = tf.function(lambda x: model(x), input_signature=[spec]).get_concrete_function()
    graph = convert_variables_to_constants_v2(function, lower_control_flow=lower)
    folder = folder_of(name)
    definition = graph.graph.as_graph_def()
    for node in definition.node:
        node.device = ""
        for key in [k for k in node.attr if k.startswith("_")]:
            del node.attr[key]
    tf.io.write_graph(definition, str(folder), "model.pbtxt" if text else "model.pb", as_text=text)
    store(folder, {"x": x}, {graph.outputs[0].name.split(":")[0]: graph(tf.constant(x))[0].numpy()})


def saved(name, module, function, specs, arrays, snappy=False):
    folder = folder_of(name)
    traced = tf.function(function, input_signature=specs)
    # Absolute paths of this machine must not get into the model.
    tf.saved_model.save(module, str(folder / "model"), signatures=traced.get_concrete_function(), options=tf.saved_model.SaveOptions(save_debug_info=False))
    if snappy:
        rewrite(folder / "model/variables/variables.index")
    for extra in ("fingerprint.pb",):
        (folder / "model" / extra).unlink(missing_ok=True)
    names = [s.name for s in specs]
    results = tf.saved_model.load(str(folder / "model")).signatures["serving_default"](**{n: tf.constant(a) for n, a in zip(names, arrays)})
    store(folder, dict(zip(names, arrays)), {k: v.numpy() for k, v in results.items()})


def main():
    keras.utils.set_random_seed(5)
    layers = keras.layers
    conv = keras.Sequential([keras.Input((8, 9, 2)), layers.Conv2D(4, 3, 2, "same", activation="relu"), layers.BatchNormalization(), layers.DepthwiseConv2D(3),
                             layers.GlobalAveragePooling2D(), layers.Dense(3, "softmax")])
    frozen("conv", conv, f(2, 8, 9, 2))
    frozen("text", keras.Sequential([keras.Input((4,)), layers.Dense(3, "tanh"), layers.Dense(2)]), f(3, 4), text=True)
    lstm = keras.Sequential([keras.Input((5, 3)), layers.LSTM(2)])
    frozen("loop_of_tf1", lstm, f(2, 5, 3))
    frozen("loop_of_tf2", lstm, f(2, 5, 3), lower=False)
    module = tf.Module()
    module.w, module.b = tf.Variable(f(4, 3)), tf.Variable(f(3))
    spec = [tf.TensorSpec([None, 4], tf.float32, name="x")]
    saved("variables", module, lambda x: {"y": tf.nn.relu(x @ module.w + module.b)}, spec, [f(2, 4)])
    saved("snappy", module, lambda x: {"y": tf.nn.softmax(x @ module.w + module.b)}, spec, [f(2, 4)], snappy=True)
    condition = lambda x: {"y": tf.cond(tf.reduce_sum(x) > 0, lambda: x @ module.w, lambda: x[:, :3] - module.b)}  # noqa: E731
    saved("condition", module, condition, spec, [np.abs(f(2, 4))])
    with tempfile.TemporaryDirectory() as folder:
        words = pathlib.Path(folder, "words.txt")
        words.write_text("red\ngreen\nblue\n")
        previous = os.getcwd()
        os.chdir(folder)
        table = tf.Module()
        table.t = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer("words.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
        saved("table", table, lambda x: {"k": table.t.lookup(x)}, [tf.TensorSpec([None], tf.string, name="x")], [np.array(["blue", "pink", "red"])])
        os.chdir(previous)
    folder = folder_of("complex")
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 8], "x")
        y = tf.abs(tf.signal.rfft(x), name="y")
        tf.io.write_graph(graph, str(folder), "model.pb", as_text=False)
        data = f(2, 8)
        store(folder, {"x": data}, {"y": session.run(y, {x: data})})


if __name__ == "__main__":
    main()
