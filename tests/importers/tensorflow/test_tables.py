"""Tables of TF1 and TF2, references, placeholders and operators without effect, by their raw operators."""

import pathlib
import tempfile

import numpy as np
import tensorflow as tf
from op_cases import OpTest, b, f, i, run_model, v1

raw = tf.raw_ops
WORDS = np.array(["red", "green", "blue"])
QUERY = np.array([["blue", "pink"], ["red", "green"]])


class Session(OpTest):
    def check_session(self, build, **arrays):
        """Saves a TF1 graph as a SavedModel and compares it. `build` maps placeholders to a map of results and a list of operators that initialise.
        Returns the names of the operators of the graph."""
        with tf.Graph().as_default() as graph, v1.Session() as session, tempfile.TemporaryDirectory() as folder:
            feeds = {k: v1.placeholder(tf.string if a.dtype.kind == "U" else tf.as_dtype(a.dtype), [None] * a.ndim, k) for k, a in arrays.items()}
            results, initialisers = build(**feeds)
            results = {k: tf.identity(v) for k, v in results.items()}
            main = tf.group(*initialisers)
            session.run(main)
            wanted = session.run(results, {feeds[k]: a for k, a in arrays.items()})
            path = str(pathlib.Path(folder, "saved"))
            builder = v1.saved_model.Builder(path)
            signature = v1.saved_model.predict_signature_def(feeds, results)
            saver = v1.train.Saver({op.name: op.outputs[0] for op in graph.get_operations() if op.type in ("Variable", "VariableV2")} or None, allow_empty=True)
            assets = v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS)
            builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature}, assets_collection=assets, main_op=main, saver=saver)
            builder.save()
            got = run_model(path, arrays)
        self.assertEqual(sorted(got), sorted(wanted))
        for name, array in wanted.items():
            self.compare(got[name], np.asarray(array), {})
        return {node.op for node in graph.as_graph_def().node}


class Tables(Session):
    def check_table(self, new, fill, find, size, export=None):
        """Looks words up in a table from text to integers, and integers up in one to floats."""
        def build(words, numbers):
            first = new(key_dtype=tf.string, value_dtype=tf.int64, shared_name="first")
            second = new(key_dtype=tf.int32, value_dtype=tf.float32, shared_name="second")
            done = [fill(table_handle=first, keys=tf.constant(WORDS), values=tf.constant([3, 5, 7], tf.int64)),
                    fill(table_handle=second, keys=tf.constant([-2, 4], tf.int32), values=tf.constant([0.5, 0.25]))]
            zero = tf.size(numbers, out_type=tf.int64) * 0
            results = {"word": find(table_handle=first, keys=words, default_value=tf.constant(-1, tf.int64)),
                       "number": find(table_handle=second, keys=numbers, default_value=tf.constant(9.0)),
                       "size": size(table_handle=first) + zero}
            if export:
                # The order of the entries is not defined.
                pair = export(table_handle=second, Tkeys=tf.int32, Tvalues=tf.float32)
                results |= {"keys": tf.sort(pair.keys) + tf.cast(zero, tf.int32), "values": tf.sort(pair.values) + tf.cast(zero, tf.float32)}
            return results, done
        return self.check_session(build, words=QUERY, numbers=np.array([4, 1, -2], np.int32))

    def test_tables_of_tf1(self):
        self.check_table(raw.HashTable, raw.InitializeTable, raw.LookupTableFind, raw.LookupTableSize, raw.LookupTableExport)

    def test_tables_of_tf2(self):
        self.check_table(raw.HashTableV2, raw.InitializeTableV2, raw.LookupTableFindV2, raw.LookupTableSizeV2, raw.LookupTableExportV2)

    def test_mutable_tables_of_tf1(self):
        self.check_table(raw.MutableHashTable, raw.LookupTableImport, raw.LookupTableFind, raw.LookupTableSize, raw.LookupTableExport)

    def test_mutable_tables_of_tf2(self):
        self.check_table(raw.MutableHashTableV2, raw.LookupTableImportV2, raw.LookupTableFindV2, raw.LookupTableSizeV2, raw.LookupTableExportV2)

    def test_tables_from_files(self):
        for new, fill, find in ((raw.HashTable, raw.InitializeTableFromTextFile, raw.LookupTableFind),
                                (raw.HashTableV2, raw.InitializeTableFromTextFileV2, raw.LookupTableFindV2)):
            with self.subTest(new=new.__name__), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "words.csv")
                path.write_text("red,30\ngreen,50\nblue,70\n")

                def build(words):
                    file = tf.constant(str(path))
                    v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, file)
                    lines = new(key_dtype=tf.string, value_dtype=tf.int64, shared_name="lines")
                    columns = new(key_dtype=tf.string, value_dtype=tf.int64, shared_name="columns")
                    # -2 is the line, -1 the number of the line, 0 and 1 are columns.
                    done = [fill(table_handle=lines, filename=file, key_index=-2, value_index=-1),
                            fill(table_handle=columns, filename=file, key_index=0, value_index=1, delimiter=",", vocab_size=3)]
                    otherwise = tf.constant(-1, tf.int64)
                    return {"line": find(table_handle=lines, keys=tf.strings.join([words, tf.constant("70")], ","), default_value=otherwise),
                            "column": find(table_handle=columns, keys=words, default_value=otherwise)}, done
                self.check_session(build, words=QUERY)


class References(Session):
    def variable(self, array, old):
        new = raw.Variable if old else raw.VariableV2
        handle = new(shape=array.shape, dtype=tf.float32)
        return handle, raw.Assign(ref=handle, value=tf.constant(array))

    def check_variables(self, build, **arrays):
        for old in (False, True):
            with self.subTest(old=old):
                self.check_session(lambda **feeds: build(lambda array: self.variable(array, old), **feeds), **arrays)

    def test_reference_of_a_variable(self):
        def build(variable, x):
            handle, done = variable(f(3, 4))
            return {"y": raw.RefIdentity(input=handle) * x}, [done]
        self.check_variables(build, x=f(3, 4))

    def test_reference_condition(self):
        def build(variable, x, p):
            left, one = variable(f(3))
            right, two = variable(f(3))
            first = raw.RefSwitch(data=left, pred=p)
            second = raw.RefSwitch(data=right, pred=p)
            merged = raw.RefMerge(inputs=[raw.RefIdentity(input=first.output_true), second.output_false])
            return {"y": merged.output * x}, [one, two]
        for p in (True, False):
            self.check_variables(build, x=f(3), p=np.array(p))

    def test_reference_loop(self):
        def build(variable, x, n):
            handle, done = variable(f(3))
            frame = {"frame_name": "loop"}
            k = raw.Merge(inputs=[raw.Enter(data=tf.constant(0), **frame)] * 2).output
            total = raw.Merge(inputs=[raw.Enter(data=x, **frame)] * 2).output
            ref = raw.RefMerge(inputs=[raw.RefEnter(data=handle, **frame)] * 2).output
            more = raw.LoopCond(input=raw.Less(x=k, y=raw.Enter(data=n, is_constant=True, **frame)))
            switched = raw.Switch(data=k, pred=more), raw.Switch(data=total, pred=more), raw.RefSwitch(data=ref, pred=more)
            one = raw.Enter(data=tf.constant(1), is_constant=True, **frame)
            inside = raw.RefIdentity(input=switched[2].output_true)
            steps = (raw.NextIteration(data=switched[0].output_true + one), raw.NextIteration(data=switched[1].output_true * inside),
                     raw.RefNextIteration(data=inside))
            for merge, step in zip((k, total, ref), steps):
                merge.op._update_input(1, step)
            return {"y": raw.Exit(data=switched[1].output_false), "ref": raw.RefExit(data=switched[2].output_false) + x * 0}, [done]
        self.check_variables(build, x=f(3), n=np.array(3, np.int32))


class Effects(Session):
    def test_operators_without_effect_on_results(self):
        def build(x, p):
            checked = raw.Assert(condition=tf.reduce_all(x < 100), data=[x], summarize=3)
            printed = raw.PrintV2(input=tf.constant("text"))
            with tf.control_dependencies([checked, printed, raw.ControlTrigger(), raw.NoOp()]):
                y = raw.Print(input=x, data=[x], message="x")
            fallback = raw.PlaceholderWithDefault(input=tf.constant(f(3)), shape=[3])
            return {"y": y + fallback + tf.cast(p, tf.float32)}, []
        self.check_session(build, x=f(3), p=b(3))

    def test_old_placeholder(self):
        """TensorFlow no longer makes PlaceholderV2: the model is one with Placeholder, whose operator is renamed."""
        array = i(3, 4)
        graph = tf.Graph()
        with graph.as_default():
            x = v1.placeholder(tf.int32, [3, 4], "x")
            y = tf.identity(x * 2, "out")
        with v1.Session(graph=graph) as session:
            wanted = session.run(y, {x: array})
        definition = graph.as_graph_def()
        for node in definition.node:
            if node.op == "Placeholder":
                node.op = "PlaceholderV2"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.pb")
            path.write_bytes(definition.SerializeToString())
            np.testing.assert_array_equal(run_model(path, {"x": array})["out"], wanted)

    def test_stateless_control_flow(self):
        def build(x, k):
            plus, minus = (tf.function(lambda x, s=s: x + s, input_signature=[tf.TensorSpec([None], tf.float32)]).get_concrete_function() for s in (1.0, -2.0))
            less = tf.function(lambda x: tf.reduce_sum(x) < 20, input_signature=[tf.TensorSpec([None], tf.float32)]).get_concrete_function()
            functions = {"input": [x], "Tout": [tf.float32]}
            loop = {"input": [x], "cond": less, "body": plus}
            return {"if": raw.If(cond=k > 0, then_branch=plus, else_branch=minus, **functions)[0],
                    "stateless_if": raw.StatelessIf(cond=k > 0, then_branch=plus, else_branch=minus, **functions)[0],
                    "case": raw.Case(branch_index=k, branches=[plus, minus], **functions)[0],
                    "stateless_case": raw.StatelessCase(branch_index=k, branches=[plus, minus], **functions)[0],
                    "while": raw.While(**loop)[0],
                    "stateless_while": raw.StatelessWhile(**loop)[0],
                    "call": raw.PartitionedCall(args=[x], Tout=[tf.float32], f=plus)[0],
                    "stateful_call": raw.StatefulPartitionedCall(args=[x], Tout=[tf.float32], f=minus)[0]}, []
        for k in (0, 1):
            self.check_session(build, x=f(3), k=np.array(k, np.int32))
