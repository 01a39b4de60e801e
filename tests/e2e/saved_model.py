"""Makes a SavedModel without TensorFlow: the signatures of the well known model half_plus_two."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTO = ROOT / "src/import/tensorflow/tensorflow.proto"

FLOAT, TEXT, NUMBER = "DT_FLOAT", "DT_STRING", "DT_INT64"


def const(name, dtype, shape, values):
    dims = "".join(f"dim {{ size: {d} }} " for d in shape)
    return f"""node {{ name: "{name}" op: "Const" attr {{ key: "dtype" value {{ type: {dtype} }} }} attr {{ key: "value" value {{ tensor {{
      dtype: {dtype} tensor_shape {{ {dims}}} {values} }} }} }} }}"""


def node(name, op, inputs, dtype=FLOAT):
    return f'node {{ name: "{name}" op: "{op}" ' + " ".join(f'input: "{i}"' for i in inputs) + f' attr {{ key: "T" value {{ type: {dtype} }} }} }}'


def placeholder(name, dtype, shape):
    dims = "unknown_rank: true" if shape is None else "".join(f"dim {{ size: {d} }} " for d in shape)
    return f"""node {{ name: "{name}" op: "Placeholder" attr {{ key: "dtype" value {{ type: {dtype} }} }}
      attr {{ key: "shape" value {{ shape {{ {dims} }} }} }} }}"""


def port(kind, key, tensor, dtype, shape):
    dims = "unknown_rank: true" if shape is None else "".join(f"dim {{ size: {d} }} " for d in shape)
    return f'{kind} {{ key: "{key}" value {{ name: "{tensor}:0" dtype: {dtype} tensor_shape {{ {dims} }} }} }}'


def signature(name, method, *ports):
    return f'signature_def {{ key: "{name}" value {{ {" ".join(ports)} method_name: "tensorflow/serving/{method}" }} }}'


def parse_example(name, serialized, features):
    """`features` are triples of a key, a type and the node with the default."""
    keys = " ".join(f'input: "{key}_key"' for key, _, _ in features)
    defaults = " ".join(f'input: "{default}"' for _, _, default in features)
    types = " ".join(f"type: {dtype}" for _, dtype, _ in features)
    shapes = " ".join("shape { dim { size: 1 } }" for _ in features)
    return f"""node {{ name: "{name}" op: "ParseExample" input: "{serialized}" input: "names" {keys} {defaults}
      attr {{ key: "Nsparse" value {{ i: 0 }} }} attr {{ key: "Ndense" value {{ i: {len(features)} }} }}
      attr {{ key: "sparse_types" value {{ list {{ }} }} }} attr {{ key: "Tdense" value {{ list {{ {types} }} }} }}
      attr {{ key: "dense_shapes" value {{ list {{ {shapes} }} }} }} }}"""


def half_plus_two(folder):
    """y = x / 2 + 2 for tensors and for serialized examples with the required feature x and the feature text, which the
    classification returns. The signature `broken` has an operator that Tern does not read."""
    graph = [
        placeholder("x", FLOAT, [-1]), const("a", FLOAT, [], "float_val: 0.5"), const("b", FLOAT, [], "float_val: 2"),
        node("ax", "Mul", ["x", "a"]), node("y", "AddV2", ["ax", "b"]),
        placeholder("examples", TEXT, None), const("names", TEXT, [0], ""), const("x_key", TEXT, [], 'string_val: "x"'),
        const("none", FLOAT, [0], ""), const("text_key", TEXT, [], 'string_val: "text"'), const("empty", TEXT, [1], 'string_val: "none"'),
        parse_example("parsed", "examples", [("x", FLOAT, "none"), ("text", TEXT, "empty")]),
        node("ex", "Mul", ["parsed", "a"]), node("ey", "AddV2", ["ex", "b"]), node("text", "Identity", ["parsed:1"], TEXT),
        'node { name: "zebra" op: "Zebra" input: "x" }']
    examples = port("inputs", "inputs", "examples", TEXT, None)
    x, y = port("inputs", "x", "x", FLOAT, [-1]), port("outputs", "y", "y", FLOAT, [-1])
    signatures = [
        signature("serving_default", "predict", x, y), signature("same", "predict", x, y),
        signature("regress", "regress", examples, port("outputs", "outputs", "ey", FLOAT, [-1, 1])),
        signature("classify", "classify", examples, port("outputs", "scores", "ey", FLOAT, [-1, 1]),
                  port("outputs", "classes", "text", TEXT, [-1, 1])),
        signature("broken", "predict", x, port("outputs", "y", "zebra", FLOAT, [-1]))]
    text = f"""saved_model_schema_version: 1 meta_graphs {{ meta_info_def {{ tags: "serve" }}
      graph_def {{ versions {{ producer: 1000 }} {" ".join(graph)} }} {" ".join(signatures)} }}"""
    done = subprocess.run(["protoc", "--encode=tern_tensorflow.SavedModel", f"-I{PROTO.parent}", PROTO], input=text.encode(), check=True,
                          capture_output=True)
    folder.mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(done.stdout)
