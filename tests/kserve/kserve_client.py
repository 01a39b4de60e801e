"""Tests a running server with kserve's REST and gRPC clients. An error raises an exception.

usage: kserve_client.py HTTP GRPC, where both arguments are addresses such as 127.0.0.1:8000"""

import asyncio
import sys

import kserve
import numpy as np

A, B = np.arange(16, dtype=np.int32).reshape(1, 16), np.full((1, 16), 2, np.int32)


async def talk(http, grpc):
    rest, base = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2")), f"http://{http}"
    assert await rest.is_server_live(base)
    assert await rest.is_server_ready(base)
    assert await rest.is_model_ready(base, "simple")
    inputs = [kserve.InferInput(name, [1, 16], "INT32") for name in ("INPUT0", "INPUT1")]
    for binary in (False, True):
        for tensor, value in zip(inputs, (A, B)):
            tensor.set_data_from_numpy(value, binary_data=binary)
        answer = await rest.infer(base, kserve.InferRequest("simple", inputs), model_name="simple")
        np.testing.assert_array_equal(answer.outputs[0].as_numpy().reshape(1, 16), A + B)
    client = kserve.InferenceGRPCClient(grpc)
    assert await client.is_server_live()
    assert await client.is_server_ready()
    assert await client.is_model_ready("simple")
    answer = await client.infer(kserve.InferRequest("simple", inputs))
    np.testing.assert_array_equal(answer.outputs[0].as_numpy().reshape(1, 16), A + B)


asyncio.run(talk(*sys.argv[1:]))
