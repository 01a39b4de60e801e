"""Inference over HTTP: JSON, binary tensors, raw requests, compression, parameters, classification."""

import gzip
import struct
import zlib

from case import DELETE, Http, changed, floats, strings, tensor, text, with_binary
from models import TYPES

PLAIN = {"inputs": [tensor("INPUT0", "FP32", [3], [1.5, -2, 3])]}
PAIR = {"inputs": [tensor("INPUT0", "INT32", [4], [1, 2, 3, 4]), tensor("INPUT1", "FP32", [1, 2], [[0.5, 1]])]}
BATCH = {"inputs": [tensor("INPUT0", "INT32", [2, 4], [[1, 2, 3, 4], [5, 6, 7, 8]]),
                    tensor("INPUT1", "BYTES", [2, 2], [["a", "b"], ["c", "δ"]])]}
LABELS = {"inputs": [tensor("INPUT0", "FP32", [1, 4], [0.1, 0.7, 0.2, 0.5])]}
DEEP = 100000


def infer(name, model, body, headers=None, version=None, **options):
    path = f"/v2/models/{model}" + (f"/versions/{version}" if version else "") + "/infer"
    return Http(f"http.infer.{name}", "POST", path, text(body), headers or {}, values=True, **options)


def variations(group, model, base, table):
    return [infer(f"{group}.{name}", model, changed(base, *changes)) for name, *changes in table]


def json_valid():
    values = {"BOOL": [True, False], "BYTES": ["x", ""], "FP16": [0.5, 1], "BF16": [0.5, 1], "FP32": [0.1, 1e30], "FP64": [0.1, 1e300],
              "INT8": [-128, 127], "UINT8": [0, 255], "INT16": [-32768, 32767], "UINT16": [0, 65535], "INT32": [-2**31, 2**31 - 1],
              "UINT32": [0, 2**32 - 1], "INT64": [-2**63, 2**63 - 1], "UINT64": [0, 2**64 - 1]}
    cases = [infer(f"type.{t}", "types", {"inputs": [tensor(f"INPUT_{t}", t, [2], values[t])]}) for t in TYPES]
    too_big = {"INT8": 128, "UINT8": 256, "UINT16": -1, "INT16": 40000, "INT32": 2**31, "UINT32": -1, "INT64": 2**63, "UINT64": 2**64, "FP32": 1e39}
    cases += [infer(f"range.{t}", "types", {"inputs": [tensor(f"INPUT_{t}", t, [1], [v])]}) for t, v in too_big.items()]
    odd = {"BOOL.number": ("BOOL", 1), "BOOL.text": ("BOOL", "true"), "INT32.fraction": ("INT32", 1.5), "INT32.whole_float": ("INT32", 1.0),
           "INT32.text": ("INT32", "1"), "INT32.bool": ("INT32", True), "FP32.text": ("FP32", "1"), "FP32.null": ("FP32", None),
           "FP32.integer": ("FP32", 7), "FP32.bool": ("FP32", False), "BYTES.number": ("BYTES", 5), "BYTES.null": ("BYTES", None),
           "FP32.object": ("FP32", {}), "FP64.integer": ("FP64", 3), "BYTES.escape": ("BYTES", "\u0000\n\"\\")}
    cases += [infer(f"element.{n}", "types", {"inputs": [tensor(f"INPUT_{t}", t, [1], [v])]}) for n, (t, v) in odd.items()]
    return cases + [
        infer("json.plain", "plain", PLAIN), infer("json.pair", "pair", PAIR), infer("json.batch", "batch", BATCH),
        infer("json.two_types", "types", {"inputs": [tensor("INPUT_INT8", "INT8", [1], [1]), tensor("INPUT_BOOL", "BOOL", [2], [True, False])]}),
        infer("json.version_1", "versions", {"inputs": [tensor("INPUT0", "INT64", [2], [1, 2])]}, version=1),
        infer("json.version_newest", "versions", {"inputs": [tensor("INPUT0", "INT64", [2], [1, 2])]}),
        infer("json.content_type", "plain", PLAIN, {"Content-Type": "application/json"}),
        infer("json.content_type_odd", "plain", PLAIN, {"Content-Type": "text/html"}),
        infer("json.header_is_all", "plain", PLAIN, {"Inference-Header-Content-Length": str(len(text(PLAIN)))}),
        infer("json.spaces", "plain", b" \n\t" + text(PLAIN) + b"\n  ")]


def json_shapes():
    return variations("json", "plain", PLAIN, [
        ("id", ("id", "42")), ("id_empty", ("id", "")), ("id_number", ("id", 42)), ("id_null", ("id", None)),
        ("unknown_key", ("extra", 1)), ("unknown_key_tensor", ("inputs.0.extra", 1)),
        ("no_inputs", ("inputs", DELETE)), ("inputs_empty", ("inputs", [])), ("inputs_object", ("inputs", {})), ("inputs_null", ("inputs", None)),
        ("inputs_number", ("inputs", [1])), ("no_name", ("inputs.0.name", DELETE)), ("name_number", ("inputs.0.name", 1)),
        ("name_empty", ("inputs.0.name", "")), ("name_wrong", ("inputs.0.name", "INPUT9")), ("no_shape", ("inputs.0.shape", DELETE)),
        ("shape_number", ("inputs.0.shape", 3)), ("shape_text", ("inputs.0.shape", ["3"])), ("shape_fraction", ("inputs.0.shape", [3.0])),
        ("shape_empty", ("inputs.0.shape", [])), ("shape_negative", ("inputs.0.shape", [-1])), ("shape_minus_3", ("inputs.0.shape", [-3])),
        ("shape_small", ("inputs.0.shape", [2])), ("shape_large", ("inputs.0.shape", [4])), ("shape_rank", ("inputs.0.shape", [1, 3])),
        ("shape_zero", ("inputs.0.shape", [0]), ("inputs.0.data", [])), ("shape_zero_data", ("inputs.0.shape", [0])),
        ("shape_null", ("inputs.0.shape", None)),
        ("no_datatype", ("inputs.0.datatype", DELETE)), ("datatype_wrong", ("inputs.0.datatype", "INT32")),
        ("datatype_unknown", ("inputs.0.datatype", "FP33")), ("datatype_lower", ("inputs.0.datatype", "fp32")),
        ("datatype_number", ("inputs.0.datatype", 1)), ("datatype_empty", ("inputs.0.datatype", "")),
        ("datatype_enum", ("inputs.0.datatype", "TYPE_FP32")),
        ("no_data", ("inputs.0.data", DELETE)), ("data_empty", ("inputs.0.data", [])), ("data_few", ("inputs.0.data", [1, 2])),
        ("data_many", ("inputs.0.data", [1, 2, 3, 4])), ("data_nested", ("inputs.0.data", [[1], [2], [3]])),
        ("data_ragged", ("inputs.0.data", [[1, 2], 3])), ("data_text", ("inputs.0.data", "abc")), ("data_number", ("inputs.0.data", 1)),
        ("data_object", ("inputs.0.data", {"a": 1})), ("data_null", ("inputs.0.data", None)),
        ("input_twice", ("inputs.1", PLAIN["inputs"][0])), ("input_unknown_too", ("inputs.1", tensor("OTHER", "FP32", [1], [1]))),
        ("outputs_empty", ("outputs", [])), ("outputs_null", ("outputs", None)), ("outputs_object", ("outputs", {})),
        ("output", ("outputs", [{"name": "OUTPUT0"}])), ("output_twice", ("outputs", [{"name": "OUTPUT0"}] * 2)),
        ("output_unknown", ("outputs", [{"name": "OUTPUT7"}])), ("output_no_name", ("outputs", [{}])), ("output_text", ("outputs", ["OUTPUT0"])),
        ("output_is_input", ("outputs", [{"name": "INPUT0"}])), ("output_binary",
            ("outputs", [{"name": "OUTPUT0", "parameters": {"binary_data": True}}])),
        ("output_binary_text", ("outputs", [{"name": "OUTPUT0", "parameters": {"binary_data": "yes"}}])),
        ("output_binary_number", ("outputs", [{"name": "OUTPUT0", "parameters": {"binary_data": 1}}])),
        ("output_parameters_list", ("outputs", [{"name": "OUTPUT0", "parameters": []}])),
        ("output_parameter_unknown", ("outputs", [{"name": "OUTPUT0", "parameters": {"what": 1}}])),
        ("output_no_region", ("outputs", [{"name": "OUTPUT0", "parameters": {"shared_memory_region": "none", "shared_memory_byte_size": 12}}])),
        ("output_region_no_size", ("outputs", [{"name": "OUTPUT0", "parameters": {"shared_memory_region": "none"}}]))])


def json_broken():
    bodies = {"empty": b"", "space": b" ", "text": b"hello", "half": text(PLAIN)[:-4], "tail": text(PLAIN) + b"x", "array": b"[]", "null": b"null",
              "number": b"1", "string": b'"a"', "object": b"{}", "two": text(PLAIN) * 2, "comma": b'{"inputs":[],}',
              "nan": text(PLAIN).replace(b"1.5", b"NaN"),
              "infinity": text(PLAIN).replace(b"1.5", b"Infinity"), "plus": text(PLAIN).replace(b"1.5", b"+1"), "comment": b"/* c */" + text(PLAIN),
              "single_quotes": text(PLAIN).replace(b'"', b"'"), "bad_utf8": text(PLAIN).replace(b"INPUT0", b"\xff\xfe"),
              "zero_byte": text(PLAIN) + b"\0", "bom": b"\xef\xbb\xbf" + text(PLAIN), "leading_zero": text(PLAIN).replace(b"1.5", b"01"),
              "duplicate_key": b'{"id":"1",' + text({"id": "2", **PLAIN})[1:], "surrogate": b'{"id":"\\ud800",' + text(PLAIN)[1:],
              "deep_90": b'{"x":' + b"[" * 90 + b"]" * 90 + b"," + text(PLAIN)[1:], "control": b'{"id":"a\x01b",' + text(PLAIN)[1:]}
    cases = [infer(f"broken.{name}", "plain", body) for name, body in bodies.items()]
    return cases + [infer("broken.deep_100000", "plain", b'{"x":' + b"[" * DEEP + b"]" * DEEP + b"," + text(PLAIN)[1:]),
                    infer("broken.data_deep_100000", "plain", text(PLAIN).replace(b"1.5", b"[" * DEEP + b"1" + b"]" * DEEP), crashes=True),
                    infer("broken.shape_2e63", "plain", changed(PLAIN, ("inputs.0.shape", [2**63 - 1])), crashes=True),
                    infer("broken.shape_2e40", "plain", changed(PLAIN, ("inputs.0.shape", [2**40])), crashes=True),
                    infer("broken.shape_product", "pair", changed(PAIR, ("inputs.1.shape", [2**62, 2]))),
                    infer("broken.shape_2e64", "plain", changed(PLAIN, ("inputs.0.shape", [2**64])))]


def json_pair_and_batch():
    return variations("pair", "pair", PAIR, [
        ("one_missing", ("inputs.1", DELETE)), ("swapped", ("inputs", PAIR["inputs"][::-1])),
        ("fixed_dim", ("inputs.0.shape", [5]), ("inputs.0.data", [1] * 5)),
        ("transposed", ("inputs.1.shape", [2, 1])), ("one_output", ("outputs", [{"name": "OUTPUT1"}])),
        ("outputs_swapped", ("outputs", [{"name": "OUTPUT1"}, {"name": "OUTPUT0"}])), ("both_same", ("inputs.1.name", "INPUT0")),
        ("mixed_outputs", ("outputs", [{"name": "OUTPUT1", "parameters": {"binary_data": True}}, {"name": "OUTPUT0"}])),
        ("binary_default", ("parameters", {"binary_data_output": True})),
        ("binary_default_listed", ("parameters", {"binary_data_output": True}), ("outputs", [{"name": "OUTPUT1"}])),
        ("binary_default_text", ("parameters", {"binary_data_output": "x"})),
    ]) + variations("batch", "batch", BATCH, [
        ("no_batch_dim", ("inputs.0.shape", [4]), ("inputs.0.data", [1, 2, 3, 4])),
        ("differs", ("inputs.0.shape", [1, 4]), ("inputs.0.data", [1, 2, 3, 4])),
        ("zero", ("inputs.0.shape", [0, 4]), ("inputs.0.data", []), ("inputs.1.shape", [0, 2]), ("inputs.1.data", [])),
        ("too_large", ("inputs.0.shape", [9, 4]), ("inputs.0.data", [1] * 36), ("inputs.1.shape", [9, 2]), ("inputs.1.data", ["a"] * 18)),
        ("largest", ("inputs.0.shape", [8, 4]), ("inputs.0.data", [1] * 32), ("inputs.1.shape", [8, 2]), ("inputs.1.data", ["a"] * 16)),
        ("wrong_dim", ("inputs.0.shape", [1, 8])), ("strings_few", ("inputs.1.data", ["a", "b", "c"])), ("one_missing", ("inputs.0", DELETE)),
        ("strings_numbers", ("inputs.1.data", [[1, 2], [3, 4]])), ("scalar", ("inputs.0.shape", []), ("inputs.0.data", [1]))])


def parameters():
    table = [("empty", {}), ("unknown_int", {"a": 1}), ("unknown_text", {"a": "b"}), ("unknown_bool", {"a": True}), ("unknown_float", {"a": 1.5}),
             ("unknown_null", {"a": None}), ("unknown_list", {"a": [1]}), ("unknown_object", {"a": {}}), ("reserved", {"triton_a": 1}),
             ("reserved_final", {"triton_enable_empty_final_response": True}), ("list", []), ("text", "x"), ("null", None),
             ("priority", {"priority": 1}), ("priority_zero", {"priority": 0}),
             ("priority_negative", {"priority": -1}), ("priority_text", {"priority": "1"}), ("priority_float", {"priority": 1.5}),
             ("timeout", {"timeout": 10000000}),
             ("timeout_text", {"timeout": "1"}), ("timeout_negative", {"timeout": -1}), ("timeout_float", {"timeout": 0.5}),
             ("sequence_id", {"sequence_id": 5, "sequence_start": True}),
             ("sequence_text", {"sequence_id": "s", "sequence_end": True}), ("sequence_bool", {"sequence_id": True}),
             ("sequence_negative", {"sequence_id": -1}),
             ("sequence_start_number", {"sequence_id": 1, "sequence_start": 1}),
             ("sequence_start_text", {"sequence_id": 1, "sequence_start": "true"}),
             ("binary_output_number", {"binary_data_output": 1}), ("binary_output_false", {"binary_data_output": False}), ("headers", {"X-Me": "1"})]
    cases = [infer(f"parameters.{name}", "plain", changed(PLAIN, ("parameters", value))) for name, value in table]
    queue = {"inputs": [tensor("INPUT0", "FP32", [1, 1], [1])]}
    cases += [infer(f"queue.{name}", "queue", changed(queue, ("parameters", value))) for name, value in [
        ("priority_1", {"priority": 1}), ("priority_3", {"priority": 3}), ("priority_4", {"priority": 4}), ("priority_huge", {"priority": 2**63}),
        ("timeout_long", {"timeout": 60000000}), ("both", {"priority": 2, "timeout": 60000000})]]
    inputs = [("unknown", {"a": 1}), ("list", []), ("text", "x"), ("size_text", {"binary_data_size": "12"}),
              ("size_with_data", {"binary_data_size": 12}),
              ("size_negative", {"binary_data_size": -1}), ("size_float", {"binary_data_size": 1.5}),
              ("no_region", {"shared_memory_region": "none", "shared_memory_byte_size": 12}),
              ("region_number", {"shared_memory_region": 1, "shared_memory_byte_size": 12}), ("region_no_size", {"shared_memory_region": "none"})]
    return cases + [infer(f"input_parameters.{name}", "plain", changed(PLAIN, ("inputs.0.parameters", value))) for name, value in inputs]


def classification():
    table = [("1", 1), ("2", 2), ("all", 4), ("more", 9), ("zero", 0), ("negative", -1), ("text", "2"), ("float", 1.5), ("bool", True),
             ("huge", 2**40)]
    cases = [infer(f"classification.{n}", "labels", {**LABELS, "outputs": [{"name": "OUTPUT0", "parameters": {"classification": v}}]}) for n,
             v in table]
    both = {"classification": 2, "binary_data": True}
    text_output = {"inputs": BATCH["inputs"], "outputs": [{"name": "OUTPUT1", "parameters": {"classification": 1}}]}
    two = {"inputs": [tensor("INPUT0", "FP32", [2, 4], [1, 2, 3, 4, 4, 3, 2, 1])],
           "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 2}}]}
    return cases + [infer("classification.binary", "labels", {**LABELS, "outputs": [{"name": "OUTPUT0", "parameters": both}]}),
                    infer("classification.batch", "labels", two), infer("classification.strings", "batch", text_output, crashes=True),
                    infer("classification.integers", "batch", {"inputs": BATCH["inputs"],
                        "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 2}}]}),
                    infer("classification.no_labels", "plain", {**PLAIN, "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 2}}]})]


def binary():
    def one(name, size, blob, shape=(3,), header=None, **more):
        body, headers = with_binary({"inputs": [tensor("INPUT0", "FP32", list(shape), binary_data_size=size)], **more}, blob, header=header)
        return infer(f"binary.{name}", "plain", body, headers)

    three, all_binary = floats(1, 2, 3), {"binary_data_output": True}
    cases = [one("plain", 12, three), one("both_ways", 12, three, parameters=all_binary), one("size_small", 8, three), one("size_large", 16, three),
             one("size_zero", 0, b""), one("size_zero_tail", 0, three), one("no_bytes", 12, b""), one("tail", 12, three + b"abc"),
             one("odd", 11, three[:11]),
             one("empty", 0, b"", shape=(0,)), one("empty_binary", 0, b"", shape=(0,), parameters=all_binary),
             one("header_text", 12, three, header="abc"),
             one("header_negative", 12, three, header=-5), one("header_small", 12, three, header=10), one("header_large", 12, three, header=100000),
             one("header_2e64", 12, three, header=2**64), one("nan", 12, floats(float("nan"), float("inf"), 0), parameters=all_binary),
             one("nan_as_json", 12, floats(float("nan"), float("inf"), 0)), one("size_2e63", 2**63, three), one("size_2e31", 2**31, three)]
    widths = {"BOOL": 1, "INT8": 1, "UINT8": 1, "INT16": 2, "UINT16": 2, "FP16": 2, "BF16": 2, "INT64": 8, "UINT64": 8, "FP64": 8}
    for datatype in TYPES:
        blob = strings(b"ab", b"") if datatype == "BYTES" else b"\0\1" * widths.get(datatype, 4) if datatype != "BOOL" else b"\0\1"
        document = {"inputs": [tensor(f"INPUT_{datatype}", datatype, [2], binary_data_size=len(blob))], "parameters": all_binary}
        cases.append(infer(f"binary.type.{datatype}", "types", *with_binary(document, blob)))
    for name, blob in {"length_large": struct.pack("<I", 100) + b"ab", "length_2e32": b"\xff\xff\xff\xff", "half_length": b"\1\0",
                       "one_of_two": strings(b"a"),
                       "three_of_two": strings(b"a", b"b", b"c"), "not_utf8": strings(b"\xff\xfe", b"\0")}.items():
        document = {"inputs": [tensor("INPUT_BYTES", "BYTES", [2], binary_data_size=len(blob))]}
        cases.append(infer(f"binary.strings.{name}", "types", *with_binary(document, blob)))
    mixed = {"inputs": [PAIR["inputs"][0], tensor("INPUT1", "FP32", [1, 2], binary_data_size=8)]}
    with_data = {"inputs": [tensor("INPUT0", "FP32", [3], [1, 2, 3], binary_data_size=12)]}
    return cases + [infer("binary.mixed", "pair", *with_binary(mixed, floats(1, 2))),
                    infer("binary.and_data", "plain", *with_binary(with_data, three))]


def raw():
    zero = {"Inference-Header-Content-Length": "0"}
    return [infer("raw.plain", "plain", floats(1, 2, 3), zero), infer("raw.odd", "plain", b"12345", zero), infer("raw.empty", "plain", b"", zero),
            infer("raw.labels", "labels", floats(1, 2, 3, 4), zero), infer("raw.labels_small", "labels", floats(1, 2), zero),
            infer("raw.labels_large", "labels", floats(1, 2, 3, 4, 5), zero), infer("raw.two_inputs", "pair", floats(1, 2), zero),
            infer("raw.versions", "versions", struct.pack("<2q", 1, 2), zero), infer("raw.unknown_model", "nothing", floats(1), zero)]


def with_gzip(body, headers):
    return gzip.compress(body, mtime=0), {**headers, "Content-Encoding": "gzip"}


def compressed():
    body = text(PLAIN)
    large = {"inputs": [tensor("INPUT0", "FP32", [1000], list(range(1000)))]}
    plain_deflate = zlib.compress(body)[2:-4]
    return [infer("compressed.gzip", "plain", gzip.compress(body, mtime=0), {"Content-Encoding": "gzip"}),
            infer("compressed.deflate", "plain", zlib.compress(body), {"Content-Encoding": "deflate"}),
            infer("compressed.identity", "plain", body, {"Content-Encoding": "identity"}),
            infer("compressed.unknown", "plain", body, {"Content-Encoding": "br"}),
            infer("compressed.not_gzip", "plain", body, {"Content-Encoding": "gzip"}),
            infer("compressed.half", "plain", gzip.compress(body, mtime=0)[:-12], {"Content-Encoding": "gzip"}),
            infer("compressed.raw_deflate", "plain", plain_deflate, {"Content-Encoding": "deflate"}),
            infer("compressed.empty", "plain", b"", {"Content-Encoding": "gzip"}),
            infer("compressed.bad_crc", "plain", gzip.compress(body, mtime=0)[:-8] + b"12345678", {"Content-Encoding": "gzip"}),
            infer("compressed.accept_gzip", "plain", body, {"Accept-Encoding": "gzip"}),
            infer("compressed.accept_deflate", "plain", body, {"Accept-Encoding": "deflate"}),
            infer("compressed.accept_gzip_large", "plain", large, {"Accept-Encoding": "gzip"}),
            infer("compressed.accept_deflate_large", "plain", large, {"Accept-Encoding": "deflate"}),
            infer("compressed.both_ways", "plain", gzip.compress(text(large), mtime=0), {"Content-Encoding": "gzip", "Accept-Encoding": "gzip"}),
            infer("compressed.binary", "plain", *with_gzip(*with_binary({"inputs": [tensor("INPUT0", "FP32", [3], binary_data_size=12)]},
                floats(1, 2, 3)))),
            infer("compressed.accept_both", "plain", body, {"Accept-Encoding": "gzip, deflate"}),
            infer("compressed.accept_br", "plain", body, {"Accept-Encoding": "br"}),
            infer("compressed.accept_error", "plain", b"{}", {"Accept-Encoding": "gzip"})]


def models():
    version = {"inputs": [tensor("INPUT0", "INT64", [2], [1, 2])]}
    cases = [infer(f"model.version_{v}", "versions", version, version=v) for v in ("2", "9", "0", "01", "x", "-1", "3.0", "99999999999999999999")]
    return cases + [infer("model.unknown", "nothing", PLAIN), infer("model.not_loaded", "spare", PLAIN), infer("model.escaped", "pl%61in", PLAIN),
                    infer("model.space", "a%20b", PLAIN), infer("model.slash", "..%2fplain", PLAIN),
                    infer("model.unknown_version", "nothing", PLAIN, version=1)]


CASES = [*json_valid(), *json_shapes(), *json_broken(), *json_pair_and_batch(), *parameters(), *classification(), *binary(), *raw(), *compressed(),
         *models()]
