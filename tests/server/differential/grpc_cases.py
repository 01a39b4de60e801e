"""Calls of inference.GRPCInferenceService, with the message classes of tritonclient. The cases must run in this
order."""

import struct

import grpc
from tritonclient.grpc import service_pb2 as pb

from case import Grpc, floats, strings
from http_control import REGION
from models import TYPES

FIELDS = {"BOOL": "bool_contents", "INT8": "int_contents", "INT16": "int_contents", "INT32": "int_contents", "INT64": "int64_contents",
          "UINT8": "uint_contents",
          "UINT16": "uint_contents", "UINT32": "uint_contents", "UINT64": "uint64_contents", "FP32": "fp32_contents", "FP64": "fp64_contents",
          "BYTES": "bytes_contents"}
WIDTHS = {"BOOL": 1, "INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "FP16": 2, "BF16": 2, "INT64": 8, "UINT64": 8, "FP64": 8}


def parameter(target, values):
    for name, value in values.items():
        kind = {bool: "bool_param", int: "int64_param", str: "string_param", float: "double_param"}[type(value)]
        setattr(target[name], kind, value)


def request(model="plain", inputs=(("INPUT0", "FP32", [3]),), raw=(floats(1, 2, 3),), outputs=(), version="", parameters=None, contents=None, id=""):
    """Returns a ModelInferRequest. An element of `inputs` is (name, type, shape) or (name, type, shape, parameters). An
    element of `outputs` is (name, parameters). `contents[i]` is (field of InferTensorContents, values) for input i, or
    None."""
    message = pb.ModelInferRequest(model_name=model, model_version=version, id=id, raw_input_contents=list(raw))
    for i, (name, datatype, shape, *more) in enumerate(inputs):
        tensor = message.inputs.add(name=name, datatype=datatype, shape=shape)
        parameter(tensor.parameters, more[0] if more else {})
        if contents and i < len(contents) and contents[i]:
            getattr(tensor.contents, contents[i][0]).extend(contents[i][1])
    for name, values in outputs:
        parameter(message.outputs.add(name=name).parameters, values)
    parameter(message.parameters, parameters or {})
    return message


def infer(name, message, **options):
    return Grpc(f"grpc.infer.{name}", "ModelInfer", message, values=True, **options)


def typed():
    values = {"BOOL": [True, False], "BYTES": [b"x", b""]}
    cases = [infer(f"typed.{t}", request("types", [(f"INPUT_{t}", t, [2])], (), contents=[(FIELDS[t], values.get(t, [1, 2]))])) for t in FIELDS]
    for datatype in TYPES:
        blob = strings(b"ab", b"") if datatype == "BYTES" else b"\0\1" if datatype == "BOOL" else b"\0\1" * WIDTHS.get(datatype, 4)
        cases.append(infer(f"raw.{datatype}", request("types", [(f"INPUT_{datatype}", datatype, [2])], [blob])))
    return cases + [
        infer("typed.wrong_field", request(raw=(), contents=[("int_contents", [1, 2, 3])])),
        infer("typed.few", request(raw=(), contents=[("fp32_contents", [1, 2])])),
        infer("typed.many", request(raw=(), contents=[("fp32_contents", [1, 2, 3, 4])])),
        infer("typed.and_raw", request(contents=[("fp32_contents", [1, 2, 3])])),
        infer("typed.FP16", request("types", [("INPUT_FP16", "FP16", [1])], (), contents=[("fp32_contents", [1])])),
        infer("typed.int8_range", request("types", [("INPUT_INT8", "INT8", [1])], (), contents=[("int_contents", [300])])),
        infer("typed.uint8_range", request("types", [("INPUT_UINT8", "UINT8", [1])], (), contents=[("uint_contents", [300])])),
        infer("typed.none", request(raw=())), infer("typed.empty", request(inputs=[("INPUT0", "FP32", [0])], raw=(),
            contents=[("fp32_contents", [])]))]


def tensors():
    fp32 = "FP32"
    batch = [("INPUT0", "INT32", [1, 4]), ("INPUT1", "BYTES", [1, 2])]
    ints, words = struct.pack("<4i", 1, 2, 3, 4), strings(b"a", b"b")
    return [
        infer("plain", request()), infer("id", request(id="17")), infer("batch", request("batch", batch, [ints, words])),
        infer("pair", request("pair", [("INPUT0", "INT32", [4]), ("INPUT1", fp32, [1, 2])], [ints, floats(1, 2)])),
        infer("empty_tensor", request(inputs=[("INPUT0", fp32, [0])], raw=[b""])), infer("nothing", request("", (), ())),
        infer("no_inputs", request(inputs=(), raw=())),
        infer("name_wrong", request(inputs=[("INPUT9", fp32, [3])])), infer("name_empty", request(inputs=[("", fp32, [3])])),
        infer("datatype_wrong", request(inputs=[("INPUT0", "INT32", [3])])), infer("datatype_unknown", request(inputs=[("INPUT0", "FP33", [3])])),
        infer("datatype_empty", request(inputs=[("INPUT0", "", [3])])), infer("shape_small", request(inputs=[("INPUT0", fp32, [2])])),
        infer("shape_large", request(inputs=[("INPUT0", fp32, [4])])), infer("shape_negative", request(inputs=[("INPUT0", fp32, [-1])])),
        infer("shape_rank", request(inputs=[("INPUT0", fp32, [1, 3])])), infer("shape_none", request(inputs=[("INPUT0", fp32, [])])),
        infer("shape_2e63", request(inputs=[("INPUT0", fp32, [2**63 - 1])])),
        infer("shape_product", request("pair", [("INPUT0", "INT32", [4]), ("INPUT1", fp32, [2**62, 2])], [ints, floats(1, 2)])),
        infer("raw_missing", request("pair", [("INPUT0", "INT32", [4]), ("INPUT1", fp32, [1, 2])], [ints])),
        infer("raw_many", request(raw=[floats(1, 2, 3), b"x"])),
        infer("raw_odd", request(raw=[floats(1, 2, 3)[:-1]])), infer("raw_long", request(raw=[floats(1, 2, 3) + b"x"])),
        infer("one_missing", request("pair", [("INPUT0", "INT32", [4])], [ints])),
        infer("input_twice", request(inputs=[("INPUT0", fp32, [3])] * 2, raw=[floats(1, 2, 3)] * 2)),
        infer("input_unknown_too", request(inputs=[("INPUT0", fp32, [3]), ("OTHER", fp32, [1])], raw=[floats(1, 2, 3), floats(1)])),
        infer("batch.too_large", request("batch", [("INPUT0", "INT32", [9, 4]), ("INPUT1", "BYTES", [9, 2])], [ints * 9, words * 9])),
        infer("batch.zero", request("batch", [("INPUT0", "INT32", [0, 4]), ("INPUT1", "BYTES", [0, 2])], [b"", b""])),
        infer("batch.differs", request("batch", [("INPUT0", "INT32", [2, 4]), ("INPUT1", "BYTES", [1, 2])], [ints * 2, words])),
        infer("batch.no_dim", request("batch", [("INPUT0", "INT32", [4]), ("INPUT1", "BYTES", [2])], [ints, words])),
        infer("strings.few", request("batch", batch, [ints, strings(b"a")])),
        infer("strings.many", request("batch", batch, [ints, strings(b"a", b"b", b"c")])),
        infer("strings.length", request("batch", batch, [ints, struct.pack("<I", 99) + b"abcd"])),
        infer("strings.half", request("batch", batch, [ints, b"\1\0"])),
        infer("output", request(outputs=[("OUTPUT0", {})])), infer("output_twice", request(outputs=[("OUTPUT0", {})] * 2)),
        infer("output_unknown", request(outputs=[("X", {})])),
        infer("output_empty", request(outputs=[("", {})])), infer("output_one",
            request("pair", [("INPUT0", "INT32", [4]), ("INPUT1", fp32, [1, 2])], [ints, floats(1, 2)], [("OUTPUT1", {})]))]


def models():
    version = [("INPUT0", "INT64", [2])], [struct.pack("<2q", 1, 2)]
    cases = [infer(f"version_{v or 'none'}", request("versions", *version, version=v)) for v in ("", "1", "3", "2", "9", "0", "01", "x", "-1",
        "99999999999999999999")]
    return cases + [infer("model_unknown", request("nothing")), infer("model_not_loaded", request("spare")),
                    infer("model_unknown_version", request("nothing", version="1")),
                    infer("model_dots", request("../plain"))]


def parameters():
    table = {"unknown_int": {"a": 1}, "unknown_text": {"a": "b"}, "unknown_double": {"a": 1.5}, "reserved": {"triton_a": 1},
             "final": {"triton_enable_empty_final_response": True},
             "priority": {"priority": 1}, "priority_negative": {"priority": -1}, "priority_text": {"priority": "1"},
             "priority_bool": {"priority": True}, "timeout": {"timeout": 10**7},
             "timeout_text": {"timeout": "1"}, "timeout_negative": {"timeout": -1}, "sequence": {"sequence_id": 5, "sequence_start": True},
             "sequence_text": {"sequence_id": "s"},
             "sequence_bool": {"sequence_id": True}, "sequence_double": {"sequence_id": 1.5},
             "sequence_start_int": {"sequence_id": 1, "sequence_start": 1},
             "sequence_end_text": {"sequence_id": 1, "sequence_end": "x"}}
    cases = [infer(f"parameters.{name}", request(parameters=values)) for name, values in table.items()]
    unset = request()
    unset.parameters["a"].SetInParent()
    inputs = {"region_unknown": {"shared_memory_region": "none", "shared_memory_byte_size": 12}, "region_int": {"shared_memory_region": 1},
              "region_no_size": {"shared_memory_region": "none"},
              "unknown": {"a": 1}, "binary_size": {"binary_data_size": 12}}
    cases += [infer(f"input_parameters.{name}", request(inputs=[("INPUT0", "FP32", [3], values)],
                                                        raw=() if "region" in name else [floats(1, 2, 3)])) for name, values in inputs.items()]
    labels = [("INPUT0", "FP32", [1, 4])], [floats(.1, .7, .2, .5)]
    cases += [infer(f"classification.{n}", request("labels", *labels, [("OUTPUT0", {"classification": v})]))
              for n, v in {"1": 1, "all": 4, "more": 9, "zero": 0, "negative": -1, "text": "2", "bool": True}.items()]
    queue = [("INPUT0", "FP32", [1, 1])], [floats(1)]
    return cases + [infer("parameters.unset", unset), infer("classification.no_labels", request(outputs=[("OUTPUT0", {"classification": 2})])),
                    *(infer(f"queue.{n}", request("queue", *queue, parameters=v)) for n,
                      v in {"priority_1": {"priority": 1}, "priority_9": {"priority": 9}, "timeout": {"timeout": 10**8}}.items())]


def transport():
    return [infer("compressed.gzip", request(), compression=grpc.Compression.Gzip),
            infer("compressed.deflate", request(), compression=grpc.Compression.Deflate),
            infer("metadata", request(), metadata=(("x-request", "1"),)), infer("damaged", b"\xff\xff\xff\xff"),
            infer("damaged_length", b"\x0a\x50abc"), infer("no_bytes", b""),
            Grpc("grpc.method.unknown", "ModelUnknown", b""), Grpc("grpc.method.damaged_metadata", "ModelMetadata", b"\x0a\x50abc"),
            infer("bad_utf8", b"\x0a\x02\xff\xfe"),
            infer("unknown_field", request().SerializeToString() + b"\xfa\x3e\x01x")]


def stream(name, *messages, **options):
    return Grpc(f"grpc.stream.{name}", "ModelStreamInfer", list(messages), values=True, **options)


def streams():
    return [stream("one", request(id="1")), stream("three", request(id="1"), request(id="2"), request(id="3")), stream("none"),
            stream("unknown", request("nothing", id="1")),
            stream("bad_then_good", request("nothing", id="1"), request(id="2")), stream("shape", request(inputs=[("INPUT0", "FP32", [4])], id="1")),
            stream("no_id", request()),
            stream("final", request(id="1", parameters={"triton_enable_empty_final_response": True})),
            stream("version", request(version="9", id="1")), stream("empty_message", request("", (), ())),
            stream("error_status", request("nothing", id="1"), metadata=(("triton_grpc_error", "true"),)),
            stream("typed", request(raw=(), contents=[("fp32_contents", [1, 2, 3])], id="1")),
            stream("not_loaded", request("spare", id="1")), stream("damaged", b"\xff\xff\xff\xff")]


def call(name, method, message, **options):
    return Grpc(f"grpc.{name}", method, message, **options)


def reads():
    cases = [call("live", "ServerLive", pb.ServerLiveRequest(), values=True), call("ready", "ServerReady", pb.ServerReadyRequest(), values=True),
             call("server", "ServerMetadata", pb.ServerMetadataRequest())]
    targets = {"plain": ("plain", ""), "version": ("versions", "1"), "version_newest": ("versions", ""), "version_not_loaded": ("versions", "2"),
               "version_unknown": ("plain", "9"),
               "version_text": ("plain", "x"), "unknown": ("nothing", ""), "not_loaded": ("spare", ""), "no_name": ("", ""), "batch": ("batch", "")}
    for name, (model, version) in targets.items():
        cases += [call(f"model_ready.{name}", "ModelReady", pb.ModelReadyRequest(name=model, version=version), values=True),
                  call(f"metadata.{name}", "ModelMetadata", pb.ModelMetadataRequest(name=model, version=version)),
                  call(f"config.{name}", "ModelConfig", pb.ModelConfigRequest(name=model, version=version)),
                  call(f"stats.{name}", "ModelStatistics", pb.ModelStatisticsRequest(name=model, version=version))]
    return cases


def repository():
    def control(name, method, model, **values):
        message = getattr(pb, f"RepositoryModel{method}Request")(model_name=model)
        for key, value in values.items():
            setattr(message.parameters[key], {bool: "bool_param", str: "string_param", int: "int64_param", bytes: "bytes_param"}[type(value)], value)
        return call(name, f"RepositoryModel{method}", message)

    return [call("index", "RepositoryIndex", pb.RepositoryIndexRequest()),
            call("index.ready", "RepositoryIndex", pb.RepositoryIndexRequest(ready=True)),
            call("index.other", "RepositoryIndex", pb.RepositoryIndexRequest(repository_name="other")),
            control("load.unknown", "Load", "nothing"), control("load.no_name", "Load", ""), control("load", "Load", "spare"),
            control("load.again", "Load", "spare"),
            control("load.parameter_unknown", "Load", "spare", what="x"), control("load.config_int", "Load", "spare", config=1),
            control("load.config_bad", "Load", "spare", config="{"),
            control("load.file_no_config", "Load", "spare", **{"file:1/model.py": b"a"}), control("load.named_dots", "Load", "../spare"),
            control("unload.unknown", "Unload", "nothing"),
            control("load.back", "Load", "spare"), control("unload.dependents_int", "Unload", "spare", unload_dependents=1),
            control("load.once_more", "Load", "spare"),
            control("unload.parameter_unknown", "Unload", "spare", what=True), control("unload", "Unload", "spare"),
            control("unload.again", "Unload", "spare"),
            control("unload.no_name", "Unload", "")]


def memory():
    register = lambda name, key=REGION, offset=0, size=64: call(f"memory.register.{name}", "SystemSharedMemoryRegister",  # noqa: E731
                                                                pb.SystemSharedMemoryRegisterRequest(name="g", key=key, offset=offset,
                                                                    byte_size=size))
    status = lambda name, region="": call(f"memory.status.{name}", "SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest(name=region),
                                          values=True)  # noqa: E731
    unregister = lambda name, region="": call(f"memory.unregister.{name}", "SystemSharedMemoryUnregister",
                                              pb.SystemSharedMemoryUnregisterRequest(name=region))  # noqa: E731
    inside = lambda **more: [("INPUT0", "FP32", [3], {"shared_memory_region": "g", "shared_memory_byte_size": 12, **more})]  # noqa: E731
    target = {"shared_memory_region": "g", "shared_memory_offset": 16, "shared_memory_byte_size": 12}
    return [status("empty"), status("unknown", "none"), register("size_large", size=10**6), unregister("undo_1", "g"),
            register("no_file", key="/tern_no_such_region"), register("key_empty", key=""),
            register("offset_large", offset=4096), unregister("undo_2", "g"), register("size_zero", size=0), unregister("undo_3", "g"),
            register("good"), register("again"),
            status("all"), status("one", "g"), infer("memory.input", request(inputs=inside(), raw=())),
            infer("memory.both", request(inputs=inside(), raw=(), outputs=[("OUTPUT0", target)])),
            infer("memory.over", request(inputs=inside(shared_memory_offset=60), raw=())),
            infer("memory.small", request(inputs=inside(shared_memory_byte_size=8), raw=())),
            infer("memory.negative", request(inputs=inside(shared_memory_offset=-1), raw=())), infer("memory.and_raw", request(inputs=inside())),
            infer("memory.output_small", request(outputs=[("OUTPUT0", {**target, "shared_memory_byte_size": 4})])),
            infer("memory.output_unknown", request(outputs=[("OUTPUT0", {**target, "shared_memory_region": "none"})])),
            unregister("good", "g"), unregister("again", "g"), unregister("all"),
            call("memory.cuda_status", "CudaSharedMemoryStatus", pb.CudaSharedMemoryStatusRequest()),
            call("memory.cuda_register", "CudaSharedMemoryRegister", pb.CudaSharedMemoryRegisterRequest(name="c", raw_handle=b"x", byte_size=8)),
            call("memory.cuda_unregister", "CudaSharedMemoryUnregister", pb.CudaSharedMemoryUnregisterRequest())]


def settings():
    def trace(name, model="", **values):
        message = pb.TraceSettingRequest(model_name=model)
        for key, value in values.items():
            message.settings[key].value.extend(value)
        return call(f"trace.{name}", "TraceSetting", message)

    def log(name, **values):
        message = pb.LogSettingsRequest()
        for key, value in values.items():
            setattr(message.settings[key], {bool: "bool_param", int: "uint32_param", str: "string_param"}[type(value)], value)
        return call(f"log.{name}", "LogSettings", message)

    return [trace("get"), trace("model", "plain"), trace("unknown_model", "nothing"), trace("rate", trace_rate=["5"]),
            trace("rate_text", trace_rate=["x"]), trace("rate_two", trace_rate=["1", "2"]),
            trace("rate_clear", trace_rate=[]), trace("level", trace_level=["OFF"]), trace("level_unknown", trace_level=["LOUD"]),
            trace("level_two", trace_level=["TIMESTAMPS", "OFF"]),
            trace("level_clear", trace_level=[]), trace("count", trace_count=["3"]), trace("count_low", trace_count=["-2"]),
            trace("count_clear", trace_count=[]), trace("file", trace_file=["x"]),
            trace("unknown", what=["1"]), trace("model_rate", "plain", trace_rate=["9"]), trace("model_clear", "plain", trace_rate=[]),
            trace("unknown_model_rate", "nothing", trace_rate=["9"]),
            log("get"), log("info", log_info=False), log("info_back", log_info=True), log("info_int", log_info=1),
            log("verbose", log_verbose_level=1), log("verbose_back", log_verbose_level=0),
            log("verbose_text", log_verbose_level="1"), log("format", log_format="ISO8601"), log("format_back", log_format="default"),
            log("format_unknown", log_format="xml"),
            log("file", log_file="x.log"), log("unknown", what=1)]


CASES = [*typed(), *tensors(), *models(), *parameters(), *transport(), *streams(), *reads(), *repository(), *memory(), *settings()]
NONE_CASES = [call("none.load", "RepositoryModelLoad", pb.RepositoryModelLoadRequest(model_name="plain")),
              call("none.unload", "RepositoryModelUnload", pb.RepositoryModelUnloadRequest(model_name="plain"))]
