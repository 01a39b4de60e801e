"""Control flow of TF1 and TF2, lists, arrays, functions, tables and signatures."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from op_cases import OpTest, f, i, run_model, v1
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from keras_models import keras


class Control(OpTest):
    def check_graph(self, build, *arrays, outputs=("out",), lower=True):
        """Builds a TF1 graph with the control flow of TF1 (lower) or TF2, and compares."""
        graph = tf.Graph()
        (v1.disable_control_flow_v2 if lower else v1.enable_control_flow_v2)()
        try:
            with graph.as_default():
                places = [v1.placeholder(tf.as_dtype(a.dtype), [None] * a.ndim, f"x{k}") for k, a in enumerate(arrays)]
                results = build(*places)
                for name, result in zip(outputs, results if isinstance(results, (list, tuple)) else [results]):
                    tf.identity(result, name=name)
        finally:
            v1.enable_control_flow_v2()
        feed = {f"x{k}": a for k, a in enumerate(arrays)}
        with v1.Session(graph=graph) as session:
            wanted = session.run([f"{o}:0" for o in outputs], {f"{k}:0": v for k, v in feed.items()})
        ops = {n.op for n in graph.as_graph_def().node}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.pb")
            path.write_bytes(graph.as_graph_def().SerializeToString())
            got = run_model(path, feed)
        for name, array in zip(outputs, wanted):
            self.compare(got[name], array, {})
        return ops

    def both(self, build, *arrays, **kwargs):
        for lower in (True, False):
            with self.subTest(lower=lower):
                ops = self.check_graph(build, *arrays, lower=lower, **kwargs)
                self.assertEqual(bool(ops & {"Switch", "Enter"}), lower, ops)

    def test_condition(self):
        for x in (np.float32(3), np.float32(-3)):
            self.both(lambda x: v1.cond(x > 0, lambda: x * 2, lambda: x - 1), x)
            self.both(lambda x: v1.cond(x > 0, lambda: (x, tf.constant(1)), lambda: (tf.exp(x), tf.constant(2))), x, outputs=("a", "b"))

    def test_nested_condition(self):
        def build(x):
            inner = lambda: v1.cond(x > 5, lambda: x * 3, lambda: x * 2)  # noqa: E731
            return v1.cond(x > 0, inner, lambda: v1.cond(x < -5, lambda: x - 1, lambda: x - 2)) + 1
        for x in (7, 2, -2, -9):
            self.both(build, np.float32(x))

    def test_loop(self):
        self.both(lambda x: v1.while_loop(lambda k, s: k < 5, lambda k, s: (k + 1, s * x + 1), [tf.constant(0), x])[1], f(3))
        self.both(lambda n: v1.while_loop(lambda k: k * k < n, lambda k: k + 1, [tf.constant(0)]), np.int32(30))

    def test_loop_that_changes_shapes(self):
        def build(x):
            return v1.while_loop(lambda k, s: k < 3, lambda k, s: (k + 1, tf.concat([s, x], 0)), [tf.constant(0), x],
                                 shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])])[1]
        self.both(build, f(2, 2))

    def test_nested_loop(self):
        def build(x):
            inner = lambda k, s: (k + 1, v1.while_loop(lambda j, t: j < k, lambda j, t: (j + 1, t + x), [tf.constant(0), s])[1])  # noqa: E731
            return v1.while_loop(lambda k, s: k < 4, inner, [tf.constant(0), x])[1]
        self.both(build, f(2))

    def test_condition_in_a_loop(self):
        def build(x):
            body = lambda k, s: (k + 1, v1.cond(tf.equal(k % 2, 0), lambda: s + x, lambda: s * 2))  # noqa: E731
            return v1.while_loop(lambda k, s: k < 5, body, [tf.constant(0), x])[1]
        self.both(build, f(2))

    def test_arrays(self):
        def build(x):
            array = tf.TensorArray(tf.float32, 4, clear_after_read=False)
            last = v1.while_loop(lambda k, a: k < 4, lambda k, a: (k + 1, a.write(k, x * tf.cast(k, tf.float32))), [tf.constant(0), array])[1]
            rows = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(tf.stack([x, x + 1, x + 2]))
            return last.stack(), rows.read(1), tf.cast(rows.size(), tf.float32) + x, last.gather([2, 0])
        self.both(build, f(3), outputs=("a", "b", "c", "d"))

    def test_array_of_parts(self):
        def build(x):
            parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [2, 3])
            return parts.concat()
        self.both_arrays(build, f(5, 2))

    def both_arrays(self, build, x):
        for lower in (True, False):
            self.check_graph(build, x, lower=lower)

    def test_lists(self):
        raw = tf.raw_ops

        def build(x):
            whole = raw.TensorListFromTensor(tensor=x, element_shape=[2])
            pushed = raw.TensorListPushBack(input_handle=whole, tensor=x[0] * 2)
            popped = raw.TensorListPopBack(input_handle=pushed, element_shape=[2], element_dtype=tf.float32)
            scattered = raw.TensorListScatterV2(tensor=x, indices=[2, 0, 1], element_shape=[2], num_elements=3)
            empty = raw.TensorListPushBack(input_handle=raw.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32), tensor=x[1])
            split = raw.TensorListSplit(tensor=x, element_shape=[-1, 2], lengths=tf.constant([1, 2], tf.int64))
            old = raw.TensorListScatter(tensor=x, indices=[2, 0, 1], element_shape=[2])
            return (raw.TensorListStack(input_handle=pushed, element_shape=[2], element_dtype=tf.float32), popped.tensor,
                    raw.TensorListLength(input_handle=popped.output_handle) + tf.cast(x[0, 0] * 0, tf.int32),
                    raw.TensorListGather(input_handle=scattered, indices=[1, 1], element_shape=[2], element_dtype=tf.float32),
                    raw.TensorListStack(input_handle=empty, element_shape=[2], element_dtype=tf.float32),
                    raw.TensorListConcatV2(input_handle=split, element_shape=[-1, 2], leading_dims=tf.zeros([0], tf.int64), element_dtype=tf.float32).tensor,
                    raw.TensorListGetItem(input_handle=old, index=0, element_shape=[2], element_dtype=tf.float32),
                    raw.TensorListConcat(input_handle=split, element_dtype=tf.float32).tensor,
                    raw.TensorListElementShape(input_handle=whole, shape_type=tf.int32) + tf.cast(x[0, 0] * 0, tf.int32))
        self.check_graph(build, f(3, 2), outputs=tuple("abcdefghi"), lower=False)

    def test_case(self):
        for k in (0, 1, 2):
            self.check_graph(lambda k, x: tf.switch_case(k, [lambda: x, lambda: x * 2, lambda: x - 1]), np.int32(k), f(3), lower=False)

    def test_frozen_lstm(self):
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.Input((6, 3)), keras.layers.LSTM(4, return_sequences=True), keras.layers.GRU(3)])
        function = tf.function(lambda x: model(x), input_signature=[tf.TensorSpec([None, 6, 3], tf.float32, name="x")]).get_concrete_function()
        x = f(2, 6, 3)
        for lower in (True, False):
            frozen = convert_variables_to_constants_v2(function, lower_control_flow=lower)
            wanted = frozen(tf.constant(x))[0].numpy()
            with tempfile.TemporaryDirectory() as folder:
                for name, text in (("m.pb", False), ("m.pbtxt", True)):
                    tf.io.write_graph(frozen.graph, folder, name, as_text=text)
                    got = run_model(pathlib.Path(folder, name), {"x": x})
                    np.testing.assert_allclose(next(iter(got.values())), wanted, rtol=1e-4, atol=1e-5)

    def test_tables(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "words.txt")
            path.write_text("red\ngreen\nblue\n")
            module = tf.Module()
            module.words = tf.lookup.StaticHashTable(tf.lookup.TextFileInitializer(str(path), tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), -1)
            module.numbers = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(tf.constant([5, 7], tf.int64), tf.constant([0.5, 0.7])), -2.0)
            self.check_saved(module, lambda x: {"k": module.words.lookup(x), "n": module.words.size() + tf.cast(tf.size(x) * 0, tf.int64)}, np.array(["blue", "pink", "red"]))
            self.check_saved(module, lambda x: module.numbers.lookup(x), np.array([7, 6, 5], np.int64))

    def test_vocabulary_layers(self):
        words = keras.layers.StringLookup(vocabulary=["a", "b"])
        numbers = keras.layers.IntegerLookup(vocabulary=[10, 20])
        module = tf.Module()
        module.keep = [words.lookup_table, numbers.lookup_table]
        self.check_saved(module, lambda x: words(x), np.array(["b", "z", "a"]))
        self.check_saved(module, lambda x: numbers(x), np.array([20, 5, 10], np.int64))

    def test_signatures(self):
        module = tf.Module()
        module.v = tf.Variable(f(3))
        spec = [tf.TensorSpec([None, 3], tf.float32, name="x")]
        add = tf.function(lambda x: {"sum": x + module.v}, input_signature=spec)
        mul = tf.function(lambda x: {"product": x * module.v}, input_signature=spec)
        x = f(2, 3)
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, signatures={"add": add, "mul": mul})
            for name, wanted in (("add", add(x)), ("mul", mul(x))):
                got = run_model(folder, {"x": x}, "--signature", name)
                self.assertEqual(list(got), list(wanted))
                np.testing.assert_allclose(next(iter(got.values())), next(iter(wanted.values())), rtol=1e-6)
            with self.assertRaisesRegex(Exception, "no signature 'serving_default'; it has add, mul"):
                run_model(folder, {"x": x})

    def test_variables_of_tf1(self):
        with tf.Graph().as_default(), v1.Session() as session, tempfile.TemporaryDirectory() as folder:
            x = v1.placeholder(tf.float32, [None, 3], "x")
            for resource in (False, True):
                w = v1.get_variable(f"w{resource}", initializer=tf.constant(f(3, 2)), use_resource=resource)
                y = x @ w
                session.run(v1.global_variables_initializer())
                path = str(pathlib.Path(folder, str(resource)))
                v1.saved_model.simple_save(session, path, {"x": x}, {"y": y})
                data = f(2, 3)
                np.testing.assert_allclose(run_model(path, {"x": data})["y"], session.run(y, {x: data}), rtol=1e-5, atol=1e-6)

    def test_legacy_functions(self):
        from tensorflow.python.framework import function as legacy

        @legacy.Defun(tf.float32, tf.float32)
        def plus(a, b):
            return a + b, a * b
        self.check_graph(lambda x: plus(x, x * 2), f(3), outputs=("a", "b"))
        self.check_graph(lambda k: tf.one_hot(k, 4)[..., None], i(3, low=0, high=4))

    def test_snappy_index(self):
        from snappy_index import rewrite

        module = tf.Module()
        module.v = [tf.Variable(f(3, k + 1), name=f"v{k}") for k in range(40)]
        function = tf.function(lambda x: {"y": tf.add_n([tf.reduce_sum(v) for v in module.v]) + x}, input_signature=[tf.TensorSpec([], tf.float32, name="x")])
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, signatures=function.get_concrete_function())
            wanted = function(tf.constant(1.0))["y"].numpy()
            index = pathlib.Path(folder, "variables/variables.index")
            before = index.read_bytes()
            rewrite(index)
            self.assertNotEqual(index.read_bytes(), before)
            np.testing.assert_allclose(run_model(folder, {"x": np.float32(1)})["y"], wanted, rtol=1e-5)

    def test_broken_variables_are_refused(self):
        module = tf.Module()
        module.v = tf.Variable(f(300))
        function = tf.function(lambda x: {"y": module.v + x}, input_signature=[tf.TensorSpec([], tf.float32, name="x")])
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, signatures=function.get_concrete_function())
            shard = pathlib.Path(folder, "variables/variables.data-00000-of-00001")
            good = shard.read_bytes()
            # The largest part of the shard is the variable or the object graph; every byte of the variable counts.
            shard.write_bytes(bytes(b ^ 1 for b in good))
            with self.assertRaisesRegex(Exception, "checksum"):
                run_model(folder, {"x": np.float32(1)})
            shard.write_bytes(good[:100])
            with self.assertRaisesRegex(Exception, "but its file has 100 bytes"):
                run_model(folder, {"x": np.float32(1)})

    def test_changed_variables_are_refused(self):
        module = tf.Module()
        module.v = tf.Variable(1.0)
        spec = [tf.TensorSpec([], tf.float32, name="x")]

        def count(x):
            module.v.assign_add(1.0)
            return {"y": module.v + x}
        with tempfile.TemporaryDirectory() as folder:
            tf.saved_model.save(module, folder, signatures=tf.function(count, input_signature=spec).get_concrete_function())
            with self.assertRaisesRegex(Exception, "changes a variable or a table when the model runs"):
                run_model(folder, {"x": np.float32(1)})
