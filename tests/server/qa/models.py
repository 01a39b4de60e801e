"""Creates the model repositories of the suites, from the examples and the model generators of the Triton checkout. A
function `f(checkout, to)` writes models to the folder `to`."""

import re
import shutil
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

OPSET = 17
LIBTORCH = (("^platform:.*", 'platform: "pytorch_libtorch"\nbackend: "tern"'),)


def edit(config, *changes, add=""):
    """Replaces text in a config.pbtxt, as Triton's test.sh files do with sed. `changes` are pairs (pattern,
    replacement). Appends the text `add`."""
    text = config.read_text()
    for pattern, new in changes:
        text = re.sub(pattern, new, text, flags=re.M)
    config.write_text(text + add)


def generate(checkout, to, script, *args):
    """Runs a model generator of qa/common. Sets the IR version of the models to at most 10, because new onnx packages
    write newer versions. Replaces GPU by CPU in the configurations, as test.sh does with sed."""
    to.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-B", script, *args, f"--models_dir={to}"], cwd=checkout / "server/qa/common", check=True,
                   stdout=subprocess.DEVNULL)
    for path in to.glob("*/*/model.onnx"):
        model = onnx.load(path)
        model.ir_version = min(model.ir_version, 10)
        onnx.save(model, path)
    for config in to.glob("*/config.pbtxt"):
        edit(config, ("KIND_GPU", "KIND_CPU"))


def copy_examples(checkout, to, names):
    for name in names:
        shutil.copytree(checkout / "server/docs/examples/model_repository" / name, to / name)


def simple_only(checkout, to):
    copy_examples(checkout, to, ["simple"])


def string_sequence(checkout, to):
    """Writes simple_string_dyna_sequence. An ONNX model with a state replaces Triton's C++ back end dyna_sequence. The
    result is the sum since START. At END, CORRID is added."""
    shutil.copytree(checkout / "server/docs/examples/model_repository/simple_dyna_sequence", to)
    edit(to / "config.pbtxt", ("simple_dyna_sequence", "simple_string_dyna_sequence"), ("TYPE_UINT64", "TYPE_STRING"),
         ("sequence_batching {", 'sequence_batching {\n  state [{ input_name: "STATE" output_name: "NEXT" data_type: TYPE_INT32 dims: [ 1 ] }]'))
    value = lambda name, kind: helper.make_tensor_value_info(name, kind, ["n", 1])
    nodes = [helper.make_node("Cast", ["CORRID"], ["id"], to=TensorProto.INT32), helper.make_node("Mul", ["END", "id"], ["last"]),
             helper.make_node("Sub", ["one", "START"], ["go_on"]), helper.make_node("Mul", ["STATE", "go_on"], ["before"]),
             helper.make_node("Add", ["before", "INPUT"], ["NEXT"]), helper.make_node("Add", ["NEXT", "last"], ["OUTPUT"])]
    inputs = [value(name, TensorProto.INT32) for name in ("INPUT", "START", "END", "READY", "STATE")] + [value("CORRID", TensorProto.STRING)]
    graph = helper.make_graph(nodes, "dyna_sequence", inputs, [value("OUTPUT", TensorProto.INT32), value("NEXT", TensorProto.INT32)],
                              [helper.make_tensor("one", TensorProto.INT32, [1], [1])])
    save(graph, to / "1/model.onnx")


def save(graph, path):
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8), path)


def simple(checkout, to):
    """Writes the seven models of L0_http. Tern's sample plug-ins replace Triton's Python and C++ back ends."""
    copy_examples(checkout, to, ["simple", "simple_int8", "simple_string", "simple_sequence", "simple_dyna_sequence", "simple_identity"])
    edit(to / "simple_identity/config.pbtxt", ('backend: "python"', 'backend: "identity"'))
    string_sequence(checkout, to / "simple_string_dyna_sequence")


def simple_and_repeat(checkout, to):
    """Writes the eight models of L0_grpc."""
    simple(checkout, to)
    plug_in(to / "repeat_int32", 'name: "repeat_int32"\nbackend: "repeat"\n')


def plug_in(folder, config):
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(config)


def grpc_unit(checkout, to):
    simple_only(checkout, to)
    plug_in(to / "string_identity", (checkout / "server/qa/python_models/string_identity/config.pbtxt").read_text())
    edit(to / "string_identity/config.pbtxt", ('backend: "python"', 'backend: "identity"'), (r"dims: \[ 1 \]", "dims: [ -1 ]"))


def densenet(checkout, to):
    """Writes densenet_onnx. The examples have no model file for it. A small model with the same inputs and outputs
    replaces it."""
    copy_examples(checkout, to, ["densenet_onnx"])
    (to / "densenet_onnx/1").mkdir(exist_ok=True)
    nodes = [helper.make_node("ReduceMean", ["data_0"], ["mean"], axes=[1, 2, 3], keepdims=1), helper.make_node("Expand", ["mean", "dims"], ["fc6_1"])]
    graph = helper.make_graph(nodes, "densenet", [helper.make_tensor_value_info("data_0", TensorProto.FLOAT, [1, 3, 224, 224])],
                              [helper.make_tensor_value_info("fc6_1", TensorProto.FLOAT, [1, 1000, 1, 1])],
                              [helper.make_tensor("dims", TensorProto.INT64, [4], [1, 1000, 1, 1])])
    save(graph, to / "densenet_onnx/1/model.onnx")


def delayed_simple(checkout, to):
    """Writes execute_delayed_model, which returns the sum and the difference of its inputs after 15 s. It is an
    ensemble of an identity that waits and of the model `simple`."""
    copy_examples(checkout, to, ["simple"])
    (to / "simple").rename(to / "add_sub")
    edit(to / "add_sub/config.pbtxt", ('name: "simple"', 'name: "add_sub"'))
    config = (checkout / "server/qa/python_models/execute_delayed_model/config.pbtxt").read_text()
    wait = 'parameters [{ key: "execute_delay_ms" value: { string_value: "15000" } }]\n'
    plug_in(to / "wait", config.replace('"python"', '"identity"').replace('name: "simple"', 'name: "wait"') + wait)
    pairs = lambda kind, *names: " ".join(f'{kind}_map {{ key: "{key}" value: "{value}" }}' for key, value in names)
    steps = (pairs("input", ("INPUT0", "INPUT0"), ("INPUT1", "INPUT1")) + pairs("output", ("OUTPUT0", "a"), ("OUTPUT1", "b")),
             pairs("input", ("INPUT0", "a"), ("INPUT1", "b")) + pairs("output", ("OUTPUT0", "OUTPUT0"), ("OUTPUT1", "OUTPUT1")))
    plug_in(to / "simple", config.replace('backend: "python"', 'platform: "ensemble"') + "ensemble_scheduling { step ["
            + ", ".join(f'{{ model_name: "{model}" model_version: -1 {maps} }}' for model, maps in zip(("wait", "add_sub"), steps)) + "] }\n")
    edit(to / "simple/config.pbtxt", (r"^instance_group.*", ""))


def stand_in(source, to, back_end, changes=(), inputs="INPUT", outputs="OUTPUT"):
    """Copies an ONNX model so that it replaces a model of another back end. For back_end="plan", onnx_x becomes plan_x.
    `inputs` and `outputs` replace the prefixes INPUT and OUTPUT in the names of tensors."""
    name = source.name.replace("onnx", back_end, 1)
    shutil.copytree(source, to / name)
    edit(to / name / "config.pbtxt", (source.name, name), (r'"INPUT(?=\d")', f'"{inputs}'), (r'"OUTPUT(?=\d")', f'"{outputs}'), *changes)
    rename = lambda text: re.sub(r"^OUTPUT(?=\d$)", outputs, re.sub(r"^INPUT(?=\d$)", inputs, text))
    for path in (to / name).glob("*/model.onnx"):
        model = onnx.load(path)
        for tensor in (*model.graph.input, *model.graph.output):
            tensor.name = rename(tensor.name)
        for node in model.graph.node:
            node.input[:], node.output[:] = map(rename, node.input), map(rename, node.output)
        onnx.save(model, path)


def variable(checkout, to):
    """Writes the ONNX models and Triton's ensembles. Copies of the ONNX models replace those of TensorRT and
    PyTorch."""
    generate(checkout, to, "gen_qa_models.py", "--onnx", f"--onnx_opset={OPSET}", "--variable")
    for path in to.glob("onnx_*bf16*"):
        shutil.rmtree(path)  # as test.sh does on a CPU
    ensembles = to.parent / "ensembles"
    generate(checkout, ensembles, "gen_qa_models.py", "--ensemble", "--variable")
    for source in sorted(to.glob("onnx_*")):
        stand_in(source, to, "plan")
        stand_in(source, to, "libtorch", LIBTORCH, outputs="OUTPUT__")
    for path in [*ensembles.glob("*_plan_*"), *ensembles.glob("nop_*")]:
        shutil.copytree(path, to / path.name)
        (to / path.name / "1").mkdir(exist_ok=True)


def batch_input(checkout, to):
    """Writes the models that L0_batch_input/test.sh creates."""
    made = to.parent / "made"
    generate(checkout, made / "ragged", "gen_qa_ragged_models.py", "--onnx", f"--onnx_opset={OPSET}")
    generate(checkout, made / "identity", "gen_qa_identity_models.py", "--onnx", f"--onnx_opset={OPSET}")
    shape = (("BATCH_ELEMENT_COUNT", "BATCH_ACCUMULATED_ELEMENT_COUNT"),)
    for name, source, changes in (
            ("ragged_element_count_acc_zero", "onnx_batch_input", ()),
            ("ragged_acc_shape", "onnx_batch_input", shape + (("BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "BATCH_MAX_ELEMENT_COUNT_AS_SHAPE"),)),
            ("batch_item_flatten", "onnx_batch_input", shape + (("BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "BATCH_ITEM_SHAPE_FLATTEN"),)),
            ("batch_item", "onnx_batch_item", ())):
        shutil.copytree(made / "ragged" / source, to / name)
        edit(to / name / "config.pbtxt", (source, name), *changes)
    flatten = to / "batch_item_flatten/config.pbtxt"
    flatten.write_text(flatten.read_text().replace("-1", "-1, -1", 1))
    shutil.copytree(made / "identity/onnx_nobatch_zero_1_float32", to / "ragged_io")
    edit(to / "ragged_io/config.pbtxt", ("onnx_nobatch_zero_1_float32", "ragged_io"), ("^max_batch_size:.*", "max_batch_size: 4"),
         ('name: "INPUT0"', 'name: "INPUT0"\nallow_ragged_batch: true'),
         add='batch_output [{target_name: "OUTPUT0" kind: BATCH_SCATTER_WITH_INPUT_SHAPE source_input: "INPUT0" }]\n'
             "dynamic_batching { max_queue_delay_microseconds: 1000000 }\n")


def implicit_state(checkout, to):
    made = to.parent / "made"
    generate(checkout, made, "gen_qa_implicit_models.py", "--onnx", f"--onnx_opset={OPSET}")
    name = "onnx_nobatch_sequence_int32"
    shutil.copytree(made / name, to / name)
    shutil.copytree(made / name, to / f"{name}_output")
    edit(to / f"{name}_output/config.pbtxt", ("^name:.*", f'name: "{name}_output"'),
         add='output [{ name: "OUTPUT_STATE" data_type: TYPE_INT32 dims: [ 1 ] }]\n')
    for source in (checkout / "server/qa/L0_implicit_state/models").iterdir():
        copy_folder(source, to / source.name, ("KIND_GPU", "KIND_CPU"))


def scalar(checkout, to):
    generate(checkout, to, "gen_qa_ort_scalar_models.py", f"--onnx_opset={OPSET}")


def copy_folder(source, to, *changes, add=""):
    """Copies the folder of a model and edits its config.pbtxt. The model runs in a plug-in and needs no model file."""
    shutil.copytree(source, to)
    (to / "1").mkdir(exist_ok=True)
    edit(to / "config.pbtxt", *changes, add=add)


def metrics(checkout, to):
    copy_folder(checkout / "server/qa/L0_metrics/unit_test_models/identity_cache_off", to / "identity_cache_off")


def queue_size(checkout, to):
    """Writes the models that L0_metrics/test.sh creates."""
    source = checkout / "server/qa/L0_metrics"
    delay = "max_queue_delay_microseconds: 100000"
    dynamic = f"\ndynamic_batching {{ {delay} }}\n"
    for name, add in (("default", ""), ("dynamic", dynamic), ("default_composing", ""), ("dynamic_composing", dynamic),
                      ("max_queue_size", f"\ndynamic_batching {{ {delay} default_queue_policy {{ max_queue_size: 4 }} }}\n"),
                      ("sequence_direct", f"\nsequence_batching {{ direct {{ {delay}, minimum_slot_utilization: 1.0 }} }}\n"),
                      ("sequence_oldest", f"\nsequence_batching {{ oldest {{ {delay}, max_candidate_sequences: 4 }} }}\n")):
        copy_folder(source / "identity_delay", to / name, ("^max_batch_size.*", "max_batch_size: 4"), add=add)
    copy_folder(source / "ensemble_delay", to / "ensemble")


def output_validation(checkout, to):
    """Writes two identities. The configuration of libtorch_datatype_1_float32 has another output type than the model."""
    for name, kind in (("libtorch_zero_1_float32", "TYPE_FP32"), ("libtorch_datatype_1_float32", "TYPE_INT32")):
        plug_in(to / name, f'''
name: "{name}" backend: "identity" max_batch_size: 8
input [{{ name: "INPUT__0" data_type: TYPE_FP32 dims: [ -1 ] }}]
output [{{ name: "OUTPUT__0" data_type: {kind} dims: [ -1 ] }}]''')


def http_unit(checkout, to):
    """Writes the models that L0_http/test.sh creates in python_unit_test_models."""
    made = to.parent / "made"
    generate(checkout, made, "gen_qa_identity_models.py", "--onnx", f"--onnx_opset={OPSET}")
    for name in ("onnx_zero_1_float32", "onnx_zero_1_object", "onnx_zero_1_float16", "onnx_zero_3_float32"):
        shutil.copytree(made / name, to / name)
    shutil.copytree(made / "onnx_zero_1_object", to / "onnx_zero_1_object_1_element")
    one = to / "onnx_zero_1_object_1_element/config.pbtxt"
    edit(one, ("onnx_zero_1_object", "onnx_zero_1_object_1_element"))
    one.write_text(one.read_text().replace("-1", "1", 1))
    shutil.copytree(made / "onnx_zero_1_float32", to / "onnx_zero_1_float32_queue")
    edit(to / "onnx_zero_1_float32_queue/config.pbtxt", ("onnx_zero_1_float32", "onnx_zero_1_float32_queue"),
         add="dynamic_batching { max_queue_delay_microseconds: 1000000 preferred_batch_size: [ 8 ] default_queue_policy { max_queue_size: 1 } }\n")
    identity = checkout / "server/docs/examples/model_repository/simple_identity"
    to_plug_in = ('backend: "python"', 'backend: "identity"')
    copy_folder(identity, to / "simple_identity", to_plug_in)
    copy_folder(identity, to / "simple_identity_int64", to_plug_in, ("TYPE_STRING", "TYPE_INT64"), ("simple_identity", "simple_identity_int64"))


def string_io(checkout, to):
    made = to.parent / "made"
    generate(checkout, made, "gen_qa_identity_models.py", "--onnx", f"--onnx_opset={OPSET}")
    shutil.copytree(made / "onnx_zero_1_object", to / "onnx_zero_1_object")
    plug_in(to / "string_identity", (checkout / "server/qa/python_models/string_identity/config.pbtxt").read_text())
    edit(to / "string_identity/config.pbtxt", ('backend: "python"', 'backend: "identity"'), (r"\[ 1 \]", "[ 8 ]"))


def infer_zero(checkout, to):
    """Writes the ONNX models and Triton's ensembles. Copies of the ONNX models replace those of TensorRT and
    PyTorch."""
    generate(checkout, to, "gen_qa_identity_models.py", "--onnx", f"--onnx_opset={OPSET}")
    ensembles = to.parent / "ensembles"
    generate(checkout, ensembles, "gen_qa_identity_models.py", "--ensemble")
    for source in sorted(to.glob("onnx_*")):
        stand_in(source, to, "plan")
        stand_in(source, to, "libtorch", LIBTORCH, "INPUT__", "OUTPUT__")
    for path in ensembles.iterdir():
        shutil.copytree(path, to / path.name)
        (to / path.name / "1").mkdir(exist_ok=True)


def client_plug_in(checkout, to):
    """The model compares request headers, which the server passes on as parameters, with those of its input."""
    copy_folder(checkout / "server/qa/L0_grpc/client_plugin_models/client_plugin_test", to / "client_plugin_test",
                ('backend: "python"', 'backend: "parameters"'))


def parameters(checkout, to):
    """The Python model puts the request's parameters into its outputs."""
    for name in ("identity", "ensemble"):
        copy_folder(checkout / "server/qa/L0_parameters/model_repository" / name, to / name)
    plug_in(to / "parameter", 'name: "parameter"\nbackend: "parameters"\n')


def class_count(checkout, to):
    for name, kind in (("identity_fp32", "TYPE_FP32"), ("identity_bytes", "TYPE_STRING")):
        copy_folder(checkout / "server/qa/python_models/identity_fp32", to / name, ('backend: "python"', 'backend: "identity"'),
                    ("identity_fp32", name), ("TYPE_FP32", kind))


def query(checkout, to):
    copy_folder(checkout / "server/qa/L0_query/models/query", to / "query")


def iterative_sequence(checkout, to):
    copy_folder(checkout / "server/qa/L0_iterative_sequence/models/iterative_sequence", to / "iterative_sequence")


def nobatch(checkout, to):
    made = to.parent / "made"
    generate(checkout, made, "gen_qa_models.py", "--onnx", f"--onnx_opset={OPSET}")
    for name in ("onnx_int32_int8_int8", "onnx_nobatch_int32_int8_int8"):
        shutil.copytree(made / name, to / name)
