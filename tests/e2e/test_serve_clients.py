"""Tests tern serve with the official clients of the v2 protocol: tritonclient over HTTP and gRPC (sync, async and aio)."""

import asyncio
import importlib.util
import json
import queue
import threading
import unittest

import numpy as np

from serving import SIMPLE_CONFIG, ServeTest, simple, slow, wait_for


def missing(*names):
    return next((name for name in names if importlib.util.find_spec(name.partition(".")[0]) is None), None)


A, B = np.arange(16, dtype=np.int32).reshape(1, 16), np.full((1, 16), 2, np.int32)


class Clients(ServeTest):
    def start(self, *args):
        return self.serve("--repository", self.repository({"simple": (simple(), SIMPLE_CONFIG)}), "--model-control", "explicit",
                          "--load-model", "simple", "--shared-memory", *args)

    def tensors(self, module, **options):
        inputs = [module.InferInput("INPUT0", [1, 16], "INT32"), module.InferInput("INPUT1", [1, 16], "INT32")]
        inputs[0].set_data_from_numpy(A, **options)
        inputs[1].set_data_from_numpy(B, **options)
        return inputs

    def check(self, result):
        np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), A + B)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), A - B)

    def manage(self, client, as_json):
        """Calls every method of the client except inference. `as_json` converts a response to plain Python data."""
        self.assertTrue(client.is_server_live())
        self.assertTrue(client.is_server_ready())
        self.assertTrue(client.is_model_ready("simple"))
        self.assertFalse(client.is_model_ready("other"))
        self.assertEqual(as_json(client.get_server_metadata())["name"], "tern")
        self.assertEqual(as_json(client.get_model_metadata("simple"))["inputs"][0]["name"], "INPUT0")
        self.assertIn("simple", str(as_json(client.get_model_config("simple"))))
        self.assertIn("simple", str(as_json(client.get_inference_statistics("simple"))))
        self.assertIn("simple", str(as_json(client.get_model_repository_index())))
        client.unload_model("simple")
        self.assertFalse(client.is_model_ready("simple"))
        client.load_model("simple")
        self.assertTrue(client.is_model_ready("simple"))
        self.assertIn("trace_rate", str(as_json(client.get_trace_settings())))
        client.update_trace_settings(settings={"trace_rate": "7"})
        client.update_trace_settings(model_name="simple", settings={"trace_rate": None})
        self.assertIn("7", str(as_json(client.get_trace_settings(model_name="simple"))))
        self.assertIn("log_info", str(as_json(client.get_log_settings())))
        client.update_log_settings({"log_verbose_level": 1})
        client.unregister_cuda_shared_memory()
        client.get_cuda_shared_memory_status()

    def shared_memory(self, client, module):
        import tritonclient.utils.shared_memory as shm  # pylint: disable=import-outside-toplevel
        size = A.nbytes
        region_in = shm.create_shared_memory_region("in", "/tern_e2e_in", 2 * size)
        region_out = shm.create_shared_memory_region("out", "/tern_e2e_out", 2 * size)
        try:
            shm.set_shared_memory_region(region_in, [A, B])
            client.register_system_shared_memory("in", "/tern_e2e_in", 2 * size)
            client.register_system_shared_memory("out", "/tern_e2e_out", 2 * size)
            inputs = [module.InferInput("INPUT0", [1, 16], "INT32"), module.InferInput("INPUT1", [1, 16], "INT32")]
            inputs[0].set_shared_memory("in", size)
            inputs[1].set_shared_memory("in", size, offset=size)
            outputs = [module.InferRequestedOutput("OUTPUT0"), module.InferRequestedOutput("OUTPUT1")]
            outputs[0].set_shared_memory("out", size)
            outputs[1].set_shared_memory("out", size, offset=size)
            client.infer("simple", inputs, outputs=outputs)
            np.testing.assert_array_equal(shm.get_contents_as_numpy(region_out, np.int32, [1, 16]), A + B)
            client.get_system_shared_memory_status()
            client.unregister_system_shared_memory()
        finally:
            shm.destroy_shared_memory_region(region_in)
            shm.destroy_shared_memory_region(region_out)

    @unittest.skipIf(missing("tritonclient", "geventhttpclient"), "tritonclient[http] is not installed")
    def test_triton_http(self):
        import tritonclient.http as triton  # pylint: disable=import-outside-toplevel
        client = triton.InferenceServerClient(self.start().http, concurrency=4)
        self.addCleanup(client.close)
        self.check(client.infer("simple", self.tensors(triton)))
        self.check(client.infer("simple", self.tensors(triton, binary_data=False), outputs=[
            triton.InferRequestedOutput("OUTPUT0", binary_data=False), triton.InferRequestedOutput("OUTPUT1", binary_data=True)]))
        for name in ("gzip", "deflate"):
            self.check(client.infer("simple", self.tensors(triton), request_compression_algorithm=name, response_compression_algorithm=name))
        self.assertEqual(client.infer("simple", self.tensors(triton), request_id="42").get_response()["id"], "42")
        for pending in [client.async_infer("simple", self.tensors(triton)) for _ in range(8)]:
            self.check(pending.get_result())
        top = client.infer("simple", self.tensors(triton), outputs=[triton.InferRequestedOutput("OUTPUT0", class_count=2)])
        self.assertEqual(top.as_numpy("OUTPUT0").ravel()[0].decode().split(":")[1], "15")
        with self.assertRaisesRegex(triton.InferenceServerException, "unknown model"):
            client.infer("other", self.tensors(triton))
        self.manage(client, lambda answer: answer)
        self.shared_memory(client, triton)

    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient[grpc] is not installed")
    def test_triton_grpc(self):
        import tritonclient.grpc as triton  # pylint: disable=import-outside-toplevel
        from google.protobuf import json_format  # pylint: disable=import-outside-toplevel
        client = triton.InferenceServerClient(self.start().grpc)
        self.addCleanup(client.close)
        self.check(client.infer("simple", self.tensors(triton)))
        self.check(client.infer("simple", self.tensors(triton), compression_algorithm="gzip"))
        self.check(client.infer("simple", self.tensors(triton), client_timeout=30, request_id="42", priority=1, timeout=1000000))
        answers = queue.Queue()
        for _ in range(8):
            client.async_infer("simple", self.tensors(triton), callback=lambda result, error: answers.put((result, error)))
        for _ in range(8):
            result, error = answers.get(timeout=30)
            self.assertIsNone(error)
            self.check(result)
        with self.assertRaisesRegex(triton.InferenceServerException, "unknown model"):
            client.infer("other", self.tensors(triton))
        client.start_stream(lambda result, error: answers.put((result, error)))
        for i in range(5):
            client.async_stream_infer("simple", self.tensors(triton), request_id=str(i))
        ids = []
        for _ in range(5):
            result, error = answers.get(timeout=30)
            self.assertIsNone(error)
            self.check(result)
            ids.append(result.get_response().id)
        client.async_stream_infer("other", self.tensors(triton))
        self.assertIn("unknown model", str(answers.get(timeout=30)[1]))
        client.stop_stream()
        self.assertEqual(sorted(ids), list("01234"))
        self.manage(client, json_format.MessageToDict)
        self.shared_memory(client, triton)

    @unittest.skipIf(missing("tritonclient", "aiohttp", "grpc"), "tritonclient's aio clients are not installed")
    def test_triton_aio(self):
        import tritonclient.grpc.aio as grpc_aio  # pylint: disable=import-outside-toplevel
        import tritonclient.http.aio as http_aio  # pylint: disable=import-outside-toplevel
        server = self.start()

        async def all_at_once(module, place):
            client = module.InferenceServerClient(place)
            try:
                self.assertTrue(await client.is_server_ready())
                for result in await asyncio.gather(*[client.infer("simple", self.tensors(module)) for _ in range(16)]):
                    self.check(result)
            finally:
                await client.close()

        asyncio.run(all_at_once(http_aio, server.http))
        asyncio.run(all_at_once(grpc_aio, server.grpc))


class Shutdown(ServeTest):
    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient[grpc] is not installed")
    def test_sigterm_under_load_answers_every_accepted_request(self):
        """Every request that the server accepts gets exactly one answer. A request that it does not accept ends with UNAVAILABLE: gRPC
        tells the client that it may send such a request to another server."""
        import tritonclient.grpc as triton  # pylint: disable=import-outside-toplevel
        log = self.dir / "access.json"
        server = self.serve("--model", f"slow={self.save(slow())}", "--log", log)
        answers, ends, lock = [], [], threading.Lock()

        def client():
            tensor = triton.InferInput("x", [64, 512], "FP32")
            tensor.set_data_from_numpy(np.zeros((64, 512), np.float32))
            with triton.InferenceServerClient(server.grpc) as connection:
                while True:
                    try:
                        result = connection.infer("slow", [tensor], client_timeout=60)
                    except triton.InferenceServerException as error:
                        with lock:
                            ends.append(error.status())
                        return
                    with lock:
                        answers.append(result.as_numpy("y").shape)

        threads = [threading.Thread(target=client) for _ in range(6)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(answers) > 12)
        self.assertEqual(server.stop(), 0)
        for thread in threads:
            thread.join()
        self.assertGreater(len(answers), 6)
        self.assertEqual(set(answers), {(64, 512)})
        self.assertEqual(ends, ["StatusCode.UNAVAILABLE"] * 6)
        statuses = [json.loads(line)["status"] for line in log.read_text().splitlines()]
        self.assertEqual(statuses.count(0), len(answers), "answers that clients got, and those that the server sent")
        self.assertLessEqual(set(statuses), {0, 14})

    @unittest.skipIf(missing("tritonclient", "grpc"), "tritonclient[grpc] is not installed")
    def test_sigterm_ends_streams_after_their_answers(self):
        import tritonclient.grpc as triton  # pylint: disable=import-outside-toplevel
        server = self.serve("--model", f"slow={self.save(slow())}")
        answers = queue.Queue()
        client = triton.InferenceServerClient(server.grpc)
        self.addCleanup(client.close)
        tensor = triton.InferInput("x", [64, 512], "FP32")
        tensor.set_data_from_numpy(np.zeros((64, 512), np.float32))
        client.start_stream(lambda result, error: answers.put((result, error)))
        for i in range(20):
            client.async_stream_infer("slow", [tensor], request_id=str(i))
        first = answers.get(timeout=30)[0].get_response().id
        self.assertEqual(server.stop(), 0)
        ids, refused, error = [first], 0, None
        while error is None or error.status() is None:  # an error without a status is the answer to one request
            result, error = answers.get(timeout=30)
            if result:
                ids.append(result.get_response().id)
            elif error.status() is None:
                self.assertIn("Server exiting", str(error))
                refused += 1
        # Requests that arrived before the signal are answered, in order and once each; later ones are refused, if at all.
        self.assertEqual(ids, [str(i) for i in range(len(ids))])
        self.assertLessEqual(len(ids) + refused, 20)
        self.assertEqual(error.status(), "StatusCode.UNAVAILABLE")
