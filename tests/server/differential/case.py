"""What a case is, and small helpers that build requests."""

import copy
import dataclasses
import json
import struct

DELETE = object()


@dataclasses.dataclass
class Http:
    """One HTTP request. crashes: Triton dies of it, so that only Tern gets it. values: compare values, not only keys.
    wait: seconds before it is sent, for what Triton does in the background."""
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
    """One gRPC call. request: a message, or a list of messages for a stream, or bytes that are sent as they are."""
    name: str
    method: str
    request: object
    metadata: tuple = ()
    crashes: bool = False
    values: bool = False
    compression: object = None
    wait: float = 0


def changed(base, *changes):
    """A copy of base in which each (path, value) is set; the path is dotted; DELETE removes."""
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
    """JSON of a value; str and bytes stay as they are."""
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
    """Body and headers of a request whose tensors follow the JSON."""
    head = text(document)
    return head + b"".join(blobs), {"Inference-Header-Content-Length": str(len(head) if header is None else header)}


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def strings(*values):
    return b"".join(struct.pack("<I", len(v)) + v for v in values)
