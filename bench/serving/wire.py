"""Encodes one inference request, for load generators that send fixed bytes."""

import json
import struct


def http_body(tensor):
    """Returns the body and the headers of a request with one binary FP32 tensor INPUT0. The request asks for a binary answer."""
    head = json.dumps({"inputs": [{"name": "INPUT0", "shape": [len(tensor) // 4], "datatype": "FP32",
                                   "parameters": {"binary_data_size": len(tensor)}}],
                       "parameters": {"binary_data_output": True}}, separators=(",", ":")).encode()
    return head + tensor, {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": str(len(head))}


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def _field(number, data):
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def grpc_frame(model, tensor):
    """Returns a ModelInferRequest with gRPC's length prefix. It contains one tensor INPUT0 in raw_input_contents."""
    shape = _varint(len(tensor) // 4)
    described = _field(1, b"INPUT0") + _field(2, b"FP32") + _field(3, shape)
    message = _field(1, model.encode()) + _field(5, described) + _field(7, tensor)
    return b"\0" + struct.pack(">I", len(message)) + message


def _lua_text(data):
    return '"' + "".join(f"\\{byte:03d}" for byte in data) + '"'


def lua_script(model, tensor):
    """Returns a Lua script for wrk. The script posts the request and prints wrk's figures as JSON."""
    body, headers = http_body(tensor)
    lines = ['wrk.method = "POST"', f'wrk.path = "/v2/models/{model}/infer"', f"wrk.body = {_lua_text(body)}"]
    lines += [f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items()]
    return "\n".join(lines) + """
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requests":%d,"seconds":%.6f,"errors":%d,"p50_ms":%.4f,"p99_ms":%.4f}\\n', summary.requests,
    summary.duration / 1e6, e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3))
end
"""
