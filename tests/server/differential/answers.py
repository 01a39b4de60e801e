"""Sends a case to a server and reduces the answer to the facts that are compared."""

import gzip
import http.client
import json
import struct
import zlib

import grpc
from google.protobuf import json_format
from tritonclient.grpc import service_pb2 as pb

from case import Http

TIMEOUT = 20
ANSWERS = {"ModelStreamInfer": "ModelStreamInferResponse"}


def keys(value, path=""):
    """Returns the paths of all keys of a JSON document, such as "outputs.name". If a key occurs only in some elements
    of an array, its path ends with "?"."""
    if isinstance(value, dict):
        return {p for k, v in value.items() for p in {f"{path}{k}"} | keys(v, f"{path}{k}.")}
    if not isinstance(value, list):
        return set()
    each = [keys(v, path) for v in value]
    everywhere = set.intersection(*each) if each else set()
    return everywhere | {f"{p.rstrip('?')}?" for p in set().union(*each) - everywhere}


def decoded(answer, data):
    encoding = answer.getheader("Content-Encoding", "")
    if encoding == "gzip":
        return gzip.decompress(data)
    return zlib.decompress(data) if encoding == "deflate" else data


def http_facts(case, answer, data):
    """Returns a dict with the facts of a response: status, encoding, size of binary data, kind of body, keys and error
    message. Adds the values if `case.values` is set and the status is 200."""
    facts = {"status": str(answer.status), "encoding": answer.getheader("Content-Encoding", "none")}
    data = decoded(answer, data)
    length = answer.getheader("Inference-Header-Content-Length")
    head, tail = (data[:int(length)], data[int(length):]) if length else (data, b"")
    facts["binary"] = str(len(tail))
    try:
        document = json.loads(head, parse_constant=str) if head else None
        facts["body"] = "empty" if document is None else type(document).__name__
    except ValueError:
        document, facts["body"] = None, "not JSON"
    facts["keys"] = " ".join(sorted(keys(document)))
    error = document.get("error") if isinstance(document, dict) else None
    facts["message"] = str(error) if error is not None else ("" if answer.status < 300 else head.decode(errors="replace"))
    if case.values and answer.status == 200:
        facts["values"] = json.dumps(rounded(document), sort_keys=True) + (f" {tail.hex()}" if tail else "")
    return facts


def ask_http(case, server):
    connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=TIMEOUT)
    try:
        connection.putrequest(case.method, case.path, skip_accept_encoding=True)
        if case.body is not None or case.method in ("POST", "PUT"):
            connection.putheader("Content-Length", str(len(case.body or b"")))
        for name, value in case.headers.items():
            connection.putheader(name, value)
        connection.endheaders(case.body)
        answer = connection.getresponse()
        return http_facts(case, answer, answer.read())
    except (OSError, http.client.HTTPException) as error:
        return {"status": "timeout" if isinstance(error, TimeoutError) else "closed", "message": repr(error)}
    finally:
        connection.close()


def rounded(document):
    """Rounds FP32 values to 32-bit floats, because Tern prints 0.1 where Triton prints 0.10000000149011612."""
    for output in document.get("outputs", []) if isinstance(document, dict) else []:
        if output.get("datatype") == "FP32" and "data" in output:
            output["data"] = [struct.unpack("<f", struct.pack("<f", v))[0] if isinstance(v, float) else v for v in output["data"]]
    return document


def grpc_document(message):
    return json_format.MessageToDict(message, preserving_proto_field_name=True)


def plain_bytes(request):
    return request if isinstance(request, bytes) else request.SerializeToString()


def ask_grpc(case, server):
    """Calls the server and returns a dict with the facts: status code, error message, keys and number of responses.
    Adds the values if `case.values` is set and the status is OK."""
    path = f"/inference.GRPCInferenceService/{case.method}"
    options = {"timeout": TIMEOUT, "metadata": case.metadata or None, "compression": case.compression}
    reader = getattr(pb, ANSWERS.get(case.method, f"{case.method}Response")).FromString if case.method != "ModelUnknown" else bytes
    answers, facts = [], {"status": "OK", "message": ""}
    with grpc.insecure_channel(f"127.0.0.1:{server.grpc}") as channel:
        try:
            if isinstance(case.request, list):
                answers.extend(channel.stream_stream(path, plain_bytes, reader)(iter(case.request), **options))
            else:
                answers.append(channel.unary_unary(path, plain_bytes, reader)(case.request, **options))
        except grpc.RpcError as error:
            facts = {"status": error.code().name, "message": error.details()}
    documents = [grpc_document(answer) for answer in answers]
    for document in documents:
        if "error_message" in document:
            facts["message"] += document["error_message"]
            document["error_message"] = "some"
    facts["keys"], facts["answers"] = " ".join(sorted(keys(documents))), str(len(documents))
    if case.values and facts["status"] == "OK":
        facts["values"] = json.dumps(documents, sort_keys=True)
    return facts


def ask(case, server):
    return ask_http(case, server) if isinstance(case, Http) else ask_grpc(case, server)
