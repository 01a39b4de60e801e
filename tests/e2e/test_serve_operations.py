"""Every operation of tritonclient's four clients, and what other clients of the v2 protocol need.

A test fails if a client has a public method that it does not call, so that the coverage is complete by construction."""

import asyncio
import http.client
import importlib
import inspect
import json
import os
import queue
import unittest

import numpy as np

from serving import BACKENDS, SIMPLE_CONFIG, ServeTest, simple
from test_serve_clients import missing

A, B = np.arange(16, dtype=np.int32).reshape(1, 16), np.full((1, 16), 2, np.int32)
REPEAT_CONFIG = 'name: "repeat" backend: "repeat"'
RESTRICTED = ("--http-restricted-api=trace:op-key=op-value", "--grpc-restricted-protocol=trace:op-key=op-value")


def plain(answer):
    """Converts an answer of a gRPC client to plain data."""
    if not hasattr(answer, "DESCRIPTOR"):
        return answer
    from google.protobuf import json_format  # pylint: disable=import-outside-toplevel
    return json_format.MessageToDict(answer, preserving_proto_field_name=True)


class Operations:
    """Calls methods of one client, synchronous or not, and records their names."""

    def __init__(self, test, module, place):
        self.test, self.module, self.place = test, importlib.import_module(module), place
        self.base = importlib.import_module(module.removesuffix(".aio"))
        self.client = self.module.InferenceServerClient(place)
        self.grpc = ".grpc" in module
        self.done = set()

    async def do(self, name, *args, **kwargs):
        self.done.add(name)
        answer = getattr(self.client, name)(*args, **kwargs)
        return plain(await answer if inspect.isawaitable(answer) else answer)

    def tensors(self):
        inputs = [self.base.InferInput(name, [1, 16], "INT32") for name in ("INPUT0", "INPUT1")]
        for tensor, value in zip(inputs, (A, B)):
            tensor.set_data_from_numpy(value)
        return inputs

    def check(self, result):
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + B)

    async def fails(self, says, name, *args, **kwargs):
        with self.test.assertRaisesRegex(self.base.InferenceServerException, says):
            await self.do(name, *args, **kwargs)

    def unused(self):
        public = {name for name, _ in inspect.getmembers(self.module.InferenceServerClient, inspect.isfunction) if not name.startswith("_")}
        return public - self.done


async def read_state(ops):
    test = ops.test
    test.assertTrue(await ops.do("is_server_live"))
    test.assertTrue(await ops.do("is_server_ready"))
    test.assertTrue(await ops.do("is_model_ready", "simple", "1"))
    test.assertFalse(await ops.do("is_model_ready", "simple", "7"))
    test.assertIn("model_repository", (await ops.do("get_server_metadata"))["extensions"])
    metadata = await ops.do("get_model_metadata", "simple", "1")
    test.assertEqual((metadata["versions"], metadata["inputs"][0]["datatype"]), (["1"], "INT32"))
    config = await ops.do("get_model_config", "simple")
    test.assertEqual(config.get("config", config)["max_batch_size"], 8)
    statistics = (await ops.do("get_inference_statistics", "simple"))["model_stats"]
    test.assertEqual([entry["name"] for entry in statistics], ["simple"])
    test.assertEqual(len((await ops.do("get_inference_statistics"))["model_stats"]), 2)


async def control_models(ops):
    index = await ops.do("get_model_repository_index")
    test, models = ops.test, index["models"] if ops.grpc else index
    test.assertEqual({model["name"]: model.get("state") for model in models}["simple"], "READY")
    await ops.do("unload_model", "simple", unload_dependents=True)
    test.assertFalse(await ops.do("is_model_ready", "simple"))
    await ops.do("load_model", "simple", config=json.dumps({"max_batch_size": 4, "backend": "onnxruntime"}))
    config = await ops.do("get_model_config", "simple")
    test.assertEqual(config.get("config", config)["max_batch_size"], 4)
    await ops.do("load_model", "simple")
    await ops.do("load_model", "sent", config=json.dumps({"backend": "onnxruntime"}),
                 files={"file:1/model.onnx": simple().SerializeToString()})
    ops.check(await ops.do("infer", "sent", ops.tensors()))
    await ops.do("unload_model", "sent")
    await ops.fails("failed to load", "load_model", "none")


async def change_settings(ops):
    """The trace settings are restricted: a plug-in of the client adds the header."""
    test = ops.test

    class AddHeader(ops.base.InferenceServerClientPlugin):
        def __call__(self, request):
            request.headers["triton-grpc-protocol-op-key" if ops.grpc else "op-key"] = "op-value"

    await ops.fails("is restricted, expecting header", "get_trace_settings")
    plug_in = AddHeader()
    await ops.do("register_plugin", plug_in)
    test.assertIs(await ops.do("plugin"), plug_in)
    await ops.do("update_trace_settings", settings={"trace_rate": "7"})
    test.assertIn("7", str(await ops.do("get_trace_settings", model_name="simple")))
    await ops.do("update_trace_settings", model_name="simple", settings={"trace_rate": "9"})
    test.assertIn("9", str(await ops.do("get_trace_settings", model_name="simple")))
    await ops.do("update_trace_settings", model_name="simple", settings={"trace_rate": None})
    await ops.do("unregister_plugin")
    await ops.do("update_log_settings", {"log_warning": False})
    settings = await ops.do("get_log_settings")
    test.assertNotIn("True", str(settings.get("settings", settings)["log_warning"]))
    await ops.do("update_log_settings", {"log_warning": True})
    await ops.fails("log file location can not be updated", "update_log_settings", {"log_file": "x"})


async def use_shared_memory(ops):
    import tritonclient.utils.shared_memory as shm  # pylint: disable=import-outside-toplevel
    key, size = f"/tern_ops_{os.getpid()}", A.nbytes
    region = shm.create_shared_memory_region("all", key, 4 * size)
    try:
        shm.set_shared_memory_region(region, [A, B])
        await ops.do("register_system_shared_memory", "all", key, 4 * size)
        test, status = ops.test, await ops.do("get_system_shared_memory_status", "all")
        test.assertIn(key, str(status))
        inputs, outputs = ops.tensors(), [ops.base.InferRequestedOutput("OUTPUT0")]
        inputs[0].set_shared_memory("all", size)
        inputs[1].set_shared_memory("all", size, offset=size)
        outputs[0].set_shared_memory("all", size, offset=2 * size)
        await ops.do("infer", "simple", inputs, outputs=outputs)
        np.testing.assert_array_equal(shm.get_contents_as_numpy(region, np.int32, [3, 16])[2:], A + B)
        await ops.do("unregister_system_shared_memory", "all")
        await ops.fails("shared memory region", "infer", "simple", inputs, outputs=outputs)
    finally:
        shm.destroy_shared_memory_region(region)
    test.assertFalse((await ops.do("get_cuda_shared_memory_status")) or None)
    await ops.fails("", "register_cuda_shared_memory", "gpu", b"AAAA", 0, 4)
    await ops.do("unregister_cuda_shared_memory")


async def infer(ops):
    ops.check(await ops.do("infer", "simple", ops.tensors(), model_version="1", request_id="id", priority=1, timeout=10_000_000))
    classes = await ops.do("infer", "simple", ops.tensors(), outputs=[ops.base.InferRequestedOutput("OUTPUT0", class_count=1)])
    ops.test.assertEqual(classes.as_numpy("OUTPUT0").ravel()[0].decode().split(":")[1], "15")
    await ops.fails("unknown model", "infer", "none", ops.tensors())


def static_bodies(ops):
    """The bodies that the HTTP clients make and read for callers with their own transport."""
    ops.done |= {"generate_request_body", "parse_response_body"}
    body, header = ops.module.InferenceServerClient.generate_request_body(ops.tensors())
    connection = http.client.HTTPConnection(ops.place, timeout=30)
    connection.request("POST", "/v2/models/simple/infer", body, {"Inference-Header-Content-Length": str(header)} if header else {})
    answer = connection.getresponse()
    length = answer.getheader("Inference-Header-Content-Length")
    ops.check(ops.module.InferenceServerClient.parse_response_body(answer.read(), header_length=int(length) if length else None))
    connection.close()


def sync_only(ops):
    """async_infer of the synchronous clients, and the streams of gRPC."""
    ops.done.add("async_infer")
    if not ops.grpc:
        ops.check(ops.client.async_infer("simple", ops.tensors()).get_result())
        return
    answers = queue.Queue()
    ops.client.async_infer("simple", ops.tensors(), lambda result, error: answers.put((result, error)))
    result, error = answers.get(timeout=30)
    ops.test.assertIsNone(error)
    ops.check(result)
    ops.done |= {"start_stream", "async_stream_infer", "stop_stream"}
    ops.client.start_stream(lambda result, error: answers.put((result, error)))
    ops.client.async_stream_infer("repeat", repeat_inputs(ops.base), enable_empty_final_response=True)
    finals = []
    for _ in range(4):
        result, error = answers.get(timeout=30)
        ops.test.assertIsNone(error)
        finals.append(result.get_response().parameters["triton_final_response"].bool_param)
    ops.test.assertEqual(finals, [False, False, False, True])
    ops.client.stop_stream()
    # A deadline and a cancellation.
    slow = repeat_inputs(ops.base, 5000)
    ops.client.start_stream(lambda result, error: answers.put((result, error)), stream_timeout=0.3)
    ops.client.async_stream_infer("repeat", slow)
    ops.test.assertIn("Deadline Exceeded", str(answers.get(timeout=30)[1]))
    ops.client.stop_stream(cancel_requests=True)
    ops.client.start_stream(lambda result, error: answers.put((result, error)))
    ops.client.async_stream_infer("repeat", slow)
    ops.client.stop_stream(cancel_requests=True)
    ops.test.assertIn("CANCELLED", str(answers.get(timeout=30)[1]))


def repeat_inputs(module, delay=0):
    values = {"IN": np.array([4, 5, 6], np.int32), "DELAY": np.full(3, delay, np.uint32), "WAIT": np.zeros(1, np.uint32)}
    inputs = [module.InferInput(name, list(value.shape), "INT32" if name == "IN" else "UINT32") for name, value in values.items()]
    for tensor, value in zip(inputs, values.values()):
        tensor.set_data_from_numpy(value)
    return inputs


async def aio_stream(ops):
    ops.done.add("stream_infer")

    async def requests():
        yield {"model_name": "repeat", "inputs": repeat_inputs(ops.base)}

    values = []
    async for result, error in ops.client.stream_infer(requests()):
        ops.test.assertIsNone(error)
        values.append(int(result.as_numpy("OUT")[0]))
    ops.test.assertEqual(values, [4, 5, 6])


class Tritonclient(ServeTest):
    def start(self):
        root = self.repository({"simple": (simple(), SIMPLE_CONFIG)})
        (root / "repeat/1").mkdir(parents=True)
        (root / "repeat/config.pbtxt").write_text(REPEAT_CONFIG)
        return self.serve("--repository", root, "--model-control", "explicit", "--load-model", "*", "--shared-memory",
                          "--backend-folder", BACKENDS, *RESTRICTED)

    async def cover(self, module, place):
        ops = Operations(self, module, place)
        for step in (read_state, infer, use_shared_memory, change_settings, control_models):
            await step(ops)
        if not ops.grpc:
            static_bodies(ops)
        if not module.endswith(".aio"):
            sync_only(ops)
        elif ops.grpc:
            await aio_stream(ops)
        await ops.do("close")
        self.assertEqual(ops.unused(), set(), "operations that no test calls")

    @unittest.skipIf(missing("tritonclient", "geventhttpclient"), "tritonclient[http] is not installed")
    def test_http(self):
        asyncio.run(self.cover("tritonclient.http", self.start().http))

    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient[grpc] is not installed")
    def test_grpc(self):
        asyncio.run(self.cover("tritonclient.grpc", self.start().grpc))

    @unittest.skipIf(missing("tritonclient", "aiohttp"), "tritonclient's aio clients are not installed")
    def test_http_aio(self):
        asyncio.run(self.cover("tritonclient.http.aio", self.start().http))

    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient's aio clients are not installed")
    def test_grpc_aio(self):
        asyncio.run(self.cover("tritonclient.grpc.aio", self.start().grpc))


class OtherClients(ServeTest):
    def test_probes_of_kubernetes(self):
        server = self.serve()
        for path in ("/v2/health/live", "/v2/health/ready"):
            self.assertEqual(server.call("GET", path)[0], 200)

    @unittest.skipIf(missing("grpc"), "grpcio is not installed")
    def test_grpc_health_check(self):
        import grpc  # pylint: disable=import-outside-toplevel
        with grpc.insecure_channel(self.serve().grpc) as channel:
            check = channel.unary_unary("/grpc.health.v1.Health/Check")
            self.assertEqual(check(b"", timeout=10), b"\x08\x01", "SERVING")

    def test_load_without_a_body(self):
        """As MLServer's clients send it."""
        server = self.serve("--repository", self.repository({"simple": (simple(), SIMPLE_CONFIG)}), "--model-control", "explicit")
        self.assertEqual(server.call("POST", "/v2/repository/models/simple/load")[0], 200)
        self.assertEqual(server.call("GET", "/v2/models/simple/ready")[0], 200)
        self.assertEqual(server.call("POST", "/v2/repository/models/simple/unload")[0], 200)
