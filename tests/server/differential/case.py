"""Defines a case (one request), and functions that build requests."""

import copy
import dataclasses
import json
import struct

DELETE = object()


@dataclasses.dataclass
class Http:
    """One HTTP request. If `crashes`, the request crashes Triton, so that it is sent only to Tern. If `values`, the
    values of the responses are compared, and otherwise only their keys. `wait` is the number of seconds to wait before
    the request is sent, because Triton finishes some work in the background."""
    name: str
    method: str
    path: str
    body: bytes = None
    headers: dict = dataclasses.field(default_factory=dict)
    crashes: bool = False
    values: bool = False
    wait: float = 0


@dataclasses.dataclass
class Grpc:
    """One gRPC call. `request` is a message, a list of messages for a stream, or bytes that are sent unchanged. See
    Http for the other fields."""
    name: str
    method: str
    request: object
    metadata: tuple = ()
    crashes: bool = False
    values: bool = False
    compression: object = None
    wait: float = 0


def changed(base, *changes):
    """Returns a copy of the JSON document `base` with some changes. A change is (path, value), such as
    ("inputs.0.name", "x"). If the value is DELETE, the element is removed."""
    result = copy.deepcopy(base)
    for path, value in changes:
        at, parts = result, [int(p) if p.isdigit() else p for p in path.split(".")]
        for part in parts[:-1]:
            at = at[part]
        if value is DELETE:
            del at[parts[-1]]
        elif isinstance(at, list) and parts[-1] == len(at):
            at.append(value)
        else:
            at[parts[-1]] = value
    return result


def text(value):
    """Returns the value as JSON, encoded to bytes. A str is only encoded. None and bytes are returned unchanged."""
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def tensor(name, datatype, shape, data=None, **parameters):
    result = {"name": name, "shape": shape, "datatype": datatype}
    if parameters:
        result["parameters"] = parameters
    if data is not None:
        result["data"] = data
    return result


def with_binary(document, *blobs, header=None):
    """Returns the body and headers of a request in which the binary tensors `blobs` follow the JSON document. `header`
    replaces the length of the JSON in the header Inference-Header-Content-Length."""
    head = text(document)
    return head + b"".join(blobs), {"Inference-Header-Content-Length": str(len(head) if header is None else header)}


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def strings(*values):
    return b"".join(struct.pack("<I", len(v)) + v for v in values)
