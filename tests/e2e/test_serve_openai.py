"""Serves language models over OpenAI's API and over v2, with curl-level requests."""

import base64
import concurrent.futures
import http.client
import json
import os
import re
import struct
import time
import unittest

import causal_models
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from serving import ServeTest, wait_for

PROMPTS = [f"Prompt {i}: " + "lorem ipsum " * (i % 5) for i in range(8)]


def completion(server, **members):
    """Sends one request for a completion. Returns the status and the reply."""
    status, _, data = server.call("POST", "/v1/completions", json.dumps({"model": "tiny", "temperature": 0, **members}))
    return status, json.loads(data)


def text_of(server, **members):
    status, reply = completion(server, **members)
    assert status == 200, reply
    return reply["choices"][0]["text"]


def events(server, path, body):
    """Returns the data of all server-sent events."""
    status, headers, data = server.call("POST", path, json.dumps(body))
    assert status == 200, data
    assert headers["Content-Type"].startswith("text/event-stream"), headers
    return [line[6:] for line in data.decode().split("\n\n") if line]


def metric(server, name, model="tiny"):
    """Returns a metric of a model, or the sum over its other labels."""
    _, _, data = server.call("GET", "/metrics", port="metrics")
    values = re.findall(rf'^{name}{{model="{model}"[^}}]*}} (\S+)$', data.decode(), re.M)
    return sum(map(float, values))


class Completions(ServeTest):
    def tiny(self, *args, **sizes):
        folder = causal_models.write_generator(self.dir / "tiny", **sizes)
        return self.serve("--model", f"tiny={folder}", *args)

    def test_replies(self):
        server = self.tiny()
        status, models = server.json("GET", "/v1/models")
        self.assertEqual((status, models["object"], [m["id"] for m in models["data"]]), (200, "list", ["tiny"]))
        status, reply = completion(server, prompt="Hello", max_tokens=5, logprobs=2)
        self.assertEqual(status, 200)
        self.assertEqual((reply["object"], reply["model"]), ("text_completion", "tiny"))
        choice, = reply["choices"]
        self.assertEqual(reply["usage"], {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10})
        self.assertEqual((choice["index"], choice["finish_reason"], len(choice["logprobs"]["tokens"])), (0, "length", 5))
        self.assertLessEqual(choice["logprobs"]["token_logprobs"][0], 0)
        echo = completion(server, prompt="Hello", max_tokens=5, echo=True, logprobs=0)[1]["choices"][0]
        self.assertEqual(echo["text"], "Hello" + choice["text"])
        self.assertEqual(echo["logprobs"]["tokens"][:5], list("Hello"))
        self.assertIsNone(echo["logprobs"]["token_logprobs"][0])
        several = completion(server, prompt=["Hello", [72, 105]], max_tokens=5, n=2)[1]["choices"]
        self.assertEqual([c["index"] for c in several], [0, 1, 2, 3])
        self.assertEqual(several[0]["text"], several[1]["text"])
        self.assertEqual(several[0]["text"], choice["text"])
        self.assertEqual(several[2]["text"], text_of(server, prompt="Hi", max_tokens=5))
        self.assertEqual(server.stop(), 0)

    def test_sequences_in_a_batch_have_the_tokens_of_those_alone(self):
        server = self.tiny(layers=3, width=64, heads=4)
        requests = [{"prompt": text, "max_tokens": 20 + 9 * (i % 4), "ignore_eos": True, "logprobs": 0,
                     **({"temperature": 1, "seed": i} if i % 2 else {})} for i, text in enumerate(PROMPTS)]
        tokens = lambda request: completion(server, **request)[1]["choices"][0]["logprobs"]["tokens"]  # noqa: E731
        alone = [tokens(request) for request in requests]
        self.assertEqual([len(t) for t in alone], [r["max_tokens"] for r in requests])
        before = metric(server, "tern_decode_steps_total"), metric(server, "tern_decode_rows_total")
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(3):
                self.assertEqual(list(pool.map(tokens, requests)), alone)
        steps, rows = (metric(server, f"tern_decode_{kind}_total") - b for kind, b in zip(("steps", "rows"), before))
        self.assertGreater(rows, 1.5 * steps, "sequences did not share executions")
        self.assertNotIn("one after the other", server.text())

    def test_a_model_that_cannot_run_batches_runs_alone(self):
        server = self.tiny(positions=False)
        self.assertIn("generates sequences one after the other", server.text())
        alone = [text_of(server, prompt=text, max_tokens=12) for text in PROMPTS]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual(list(pool.map(lambda text: text_of(server, prompt=text, max_tokens=12), PROMPTS)), alone)

    def test_streams(self):
        server = self.tiny()
        whole = completion(server, prompt="Hello", max_tokens=9)[1]["choices"][0]["text"]
        body = {"model": "tiny", "prompt": "Hello", "max_tokens": 9, "temperature": 0, "stream": True,
                "stream_options": {"include_usage": True}}
        *parts, last = events(server, "/v1/completions", body)
        self.assertEqual(last, "[DONE]")
        *parts, usage = map(json.loads, parts)
        self.assertEqual((usage["choices"], usage["usage"]["completion_tokens"]), ([], 9))
        self.assertEqual("".join(p["choices"][0]["text"] for p in parts), whole)
        self.assertEqual(parts[-1]["choices"][0]["finish_reason"], "length")
        self.assertGreater(len(parts), 3)

    def test_chat(self):
        server = self.tiny()
        body = {"model": "tiny", "messages": [{"role": "user", "content": " Hi "}], "max_tokens": 6, "temperature": 0}
        status, reply = server.json("POST", "/v1/chat/completions", body)
        self.assertEqual((status, reply["object"]), (200, "chat.completion"))
        message = reply["choices"][0]["message"]
        self.assertEqual(message["role"], "assistant")
        prompt = [257, *b"user\nHi", 258, 10, 257, *b"assistant\n"]
        self.assertEqual(reply["usage"]["prompt_tokens"], len(prompt))
        self.assertEqual(message["content"], text_of(server, prompt=prompt, max_tokens=6))
        *parts, last = events(server, "/v1/chat/completions", {**body, "stream": True})
        self.assertEqual(last, "[DONE]")
        deltas = [json.loads(p)["choices"][0] for p in parts]
        self.assertEqual(deltas[0]["delta"], {"role": "assistant", "content": ""})
        self.assertEqual("".join(d["delta"].get("content", "") for d in deltas), message["content"])
        self.assertEqual((deltas[-1]["delta"], deltas[-1]["finish_reason"]), ({}, "length"))
        _, reply = server.json("POST", "/v1/chat/completions", {**body, "logprobs": True, "top_logprobs": 3})
        content = reply["choices"][0]["logprobs"]["content"]
        self.assertEqual((len(content), len(content[0]["top_logprobs"])), (6, 3))

    def test_stops_and_seeds(self):
        server = self.tiny()
        text = text_of(server, prompt="Hello", max_tokens=30)
        stop = text[10:12]
        _, reply = completion(server, prompt="Hello", max_tokens=30, stop=[stop, "never"])
        self.assertEqual(reply["choices"][0], {"index": 0, "text": text[:text.index(stop)], "logprobs": None, "finish_reason": "stop"})
        draw = lambda seed: text_of(server, prompt="Hello", max_tokens=30, temperature=1.2, seed=seed)  # noqa: E731
        self.assertEqual(draw(7), draw(7))
        self.assertNotEqual(draw(7), draw(8))

    def test_errors(self):
        server = self.tiny()
        for members, code, param in [({"model": "none", "prompt": "a"}, 404, "model"), ({}, 400, "prompt"),
                                     ({"prompt": "a", "foo": 1}, 400, "foo"), ({"prompt": "a", "temperature": 9}, 400, "temperature"),
                                     ({"prompt": "a" * 300}, 400, None), ({"prompt": [999]}, 400, None)]:
            status, reply = completion(server, **members)
            self.assertEqual((status, reply["error"]["param"]), (code, param), reply)
            self.assertEqual(set(reply["error"]), {"message", "type", "param", "code"})
        self.assertEqual(completion(server, model="none", prompt="a")[1]["error"]["code"], "model_not_found")
        self.assertEqual(server.call("POST", "/v1/completions", "{")[0], 400)
        self.assertEqual(server.call("GET", "/v1/completions")[0], 405)
        self.assertEqual(server.call("POST", "/v1/engines", "{}")[0], 404)

    def test_a_template_that_is_not_supported_is_named(self):
        server = self.tiny(template="{% for m in messages %}{% include 'x' %}{% endfor %}")
        self.assertIn("the statement 'include' is not supported", server.text())
        body = {"model": "tiny", "messages": [{"role": "user", "content": "Hi"}]}
        status, reply = server.json("POST", "/v1/chat/completions", body)
        self.assertEqual(status, 400)
        self.assertIn("the statement 'include' is not supported", reply["error"]["message"])

    def test_v2(self):
        server = self.tiny()
        text = text_of(server, prompt="Hello", max_tokens=20)
        body = {"text_input": "Hello", "max_tokens": 20, "temperature": 0}
        status, reply = server.json("POST", "/v2/models/tiny/generate", body)
        self.assertEqual((status, reply["text_output"]), (200, text))
        parts = [json.loads(e) for e in events(server, "/v2/models/tiny/generate_stream", {**body, "stream": True})]
        self.assertEqual("".join(p.get("text_output", "") for p in parts), text)
        self.assertGreater(len(parts), 3)
        self.assertEqual(server.json("POST", "/v2/models/tiny/generate", {"text_input": "a", "temperature": -1})[0], 400)


class Unloading(ServeTest):
    def reload(self, server, model):
        """Unloads and loads a model. A server refuses that if four earlier versions are still in use."""
        for action in ("unload", "load"):
            status, answer = server.json("POST", f"/v2/repository/models/{model}/{action}", {})
            self.assertEqual(status, 200, answer)

    def test_ended_requests_hold_no_model(self):
        causal_models.write_generator(self.dir / "tiny")
        embedder(self.dir / "embed")
        server = self.serve("--model", f"tiny={self.dir / 'tiny'}", "--model", f"embed={self.dir / 'embed'}", "--model-control", "explicit")
        for _ in range(6):
            self.assertEqual(completion(server, prompt="Hello", max_tokens=3, n=2)[0], 200)
            events(server, "/v1/completions", {"model": "tiny", "prompt": "Hello", "max_tokens": 3, "stream": True})
            self.reload(server, "tiny")
            self.assertEqual(server.json("POST", "/v1/embeddings", {"model": "embed", "input": ["Hi", "you"]})[0], 200)
            self.reload(server, "embed")

    def test_a_model_between_two_versions_is_unavailable(self):
        folder = causal_models.write_generator(self.dir / "tiny")
        server = self.serve("--model", f"tiny={folder}", "--model-control", "explicit", "--change-order", "unload-first")
        os.utime(folder / "model.onnx", (1, 1))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            load = pool.submit(server.json, "POST", "/v2/repository/models/tiny/load", {})
            statuses = set()
            while not load.done():
                statuses.add(completion(server, prompt="Hello", max_tokens=1)[0])
            self.assertEqual(load.result()[0], 200)
        self.assertLessEqual(statuses, {200, 503})
        self.assertIn(503, statuses)


class Limits(ServeTest):
    def slow(self, *parameters):
        """Serves a model with a long context, so that a sequence takes seconds."""
        folder = self.dir / "models" / "tiny"
        causal_models.write_generator(folder / "1", context=8192, width=64)
        lines = [f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}' for key, value in parameters]
        (folder / "config.pbtxt").write_text("\n".join(lines))
        return self.serve("--repository", self.dir / "models")

    def start(self, server, **members):
        connection = http.client.HTTPConnection("127.0.0.1", server.ports["http"], timeout=60)
        body = {"model": "tiny", "prompt": "Hello", "max_tokens": 8000, "ignore_eos": True, "stream": True, "temperature": 0, **members}
        connection.request("POST", "/v1/completions", json.dumps(body))
        self.addCleanup(connection.close)
        return connection

    def test_a_client_that_leaves_frees_its_place(self):
        server = self.slow(("tern_max_sequences", 1))
        first = self.start(server)
        first.getresponse().read(200)
        self.assertEqual(metric(server, "tern_num_requests_running"), 1)
        second = self.start(server, max_tokens=5)
        wait_for(lambda: metric(server, "tern_num_requests_waiting") == 1)
        begin = time.monotonic()
        first.close()
        self.assertIn(b"[DONE]", second.getresponse().read())
        self.assertLess(time.monotonic() - begin, 2)
        wait_for(lambda: metric(server, "tern_num_requests_running") == 0)
        self.assertEqual(metric(server, 'tern_sequences_ended_total'), 2)

    def test_too_many_sequences_are_refused(self):
        server = self.slow(("tern_max_sequences", 1), ("tern_max_waiting", 2))
        running = self.start(server)
        running.getresponse().read(200)
        waiting = [self.start(server) for _ in range(2)]
        wait_for(lambda: metric(server, "tern_num_requests_waiting") == 2)
        status, headers, data = server.call("POST", "/v1/completions", json.dumps({"model": "tiny", "prompt": "a"}))
        self.assertEqual((status, headers["Retry-After"]), (429, "1"))
        self.assertEqual(json.loads(data)["error"]["type"], "rate_limit_error")
        for connection in (running, *waiting):
            connection.close()
        wait_for(lambda: metric(server, "tern_num_requests_waiting") == 0)
        self.assertEqual(completion(server, prompt="a", max_tokens=2)[0], 200)

    def test_deadlines(self):
        server = self.slow(("tern_max_sequences", 2))
        status, reply = completion(server, prompt="Hello", max_tokens=8000, ignore_eos=True, timeout=0.2)
        self.assertEqual((status, reply["error"]["type"]), (503, "service_unavailable_error"))
        *_, last = self.start(server, timeout=0.2).getresponse().read().decode().strip().split("\n\n")
        self.assertIn("deadline", json.loads(last[6:])["error"]["message"])

    def test_the_server_ends_after_its_sequences(self):
        server = self.slow()
        running = self.start(server, max_tokens=3000)
        answer = running.getresponse()
        answer.read(200)
        code = concurrent.futures.ThreadPoolExecutor(1).submit(server.stop)
        self.assertIn(b"[DONE]", answer.read())
        self.assertEqual(code.result(), 0)

    def test_wrong_parameters_are_named(self):
        folder = self.dir / "models" / "tiny"
        causal_models.write_generator(folder / "1")
        (folder / "config.pbtxt").write_text('parameters { key: "tern_max_sequences" value { string_value: "0" } }')
        server = self.serve("--repository", self.dir / "models")
        self.assertIn("parameter tern_max_sequences is '0'; it must be an integer from 1 to 1024", server.text())


def embedder(folder):
    """Writes a model that looks up a vector per token, and a pipeline that pools and normalises the vectors."""
    folder.mkdir()
    table = np.random.default_rng(3).standard_normal((259, 8)).astype(np.float32)
    integer, floats = TensorProto.INT64, TensorProto.FLOAT
    inputs = [helper.make_tensor_value_info(name, integer, ["N", "T"]) for name in ("input_ids", "attention_mask")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["g"]),
             helper.make_node("Cast", ["attention_mask"], ["m"], to=floats), helper.make_node("Unsqueeze", ["m", "last"], ["m3"]),
             helper.make_node("Mul", ["g", "m3"], ["hidden"])]
    output = helper.make_tensor_value_info("hidden", floats, ["N", "T", 8])
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(np.array([2]), "last")]
    graph = helper.make_graph(nodes, "embed", inputs, [output], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "model.onnx")
    (folder / "tokenizer.json").write_text(json.dumps(causal_models.tokenizer()))
    (folder / "pipeline.yaml").write_text("inputs: {text: [tokenize]}\noutputs: {vector: [pool: mean, l2_normalise]}\n")
    return table


class Embeddings(ServeTest):
    def test_texts_and_tokens(self):
        table = embedder(self.dir / "embed")
        server = self.serve("--model", f"embed={self.dir / 'embed'}")
        self.assertEqual([m["id"] for m in server.json("GET", "/v1/models")[1]["data"]], ["embed"])
        texts = ["Hi", "a longer text", "x", "yy", "zzz", "Hi"]
        want = [table[list(text.encode())].mean(0) for text in texts]
        want = [vector / np.linalg.norm(vector) for vector in want]
        status, reply = server.json("POST", "/v1/embeddings", {"model": "embed", "input": texts})
        self.assertEqual((status, reply["object"]), (200, "list"))
        self.assertEqual([d["index"] for d in reply["data"]], list(range(6)))
        np.testing.assert_allclose([d["embedding"] for d in reply["data"]], want, rtol=1e-4, atol=1e-5)
        count = sum(map(len, texts))
        self.assertEqual(reply["usage"], {"prompt_tokens": count, "total_tokens": count})
        tokens = [list(text.encode()) for text in texts]
        _, same = server.json("POST", "/v1/embeddings", {"model": "embed", "input": tokens})
        self.assertEqual(same["data"], reply["data"])
        _, packed = server.json("POST", "/v1/embeddings", {"model": "embed", "input": tokens[1], "encoding_format": "base64"})
        got = struct.unpack("<8f", base64.b64decode(packed["data"][0]["embedding"]))
        np.testing.assert_allclose(got, want[1], rtol=1e-4, atol=1e-5)
        many = ["n" * (1 + i % 50) for i in range(300)]
        _, reply = server.json("POST", "/v1/embeddings", {"model": "embed", "input": many})
        self.assertEqual(len(reply["data"]), 300)
        for body, param in [({"input": "a", "dimensions": 3}, "dimensions"), ({"input": []}, "input"), ({"input": [[259]]}, "input")]:
            status, reply = server.json("POST", "/v1/embeddings", {"model": "embed", **body})
            self.assertEqual((status, reply["error"]["param"]), (400, param))

    def test_a_model_is_used_for_what_it_does(self):
        embedder(self.dir / "embed")
        causal_models.write_generator(self.dir / "tiny")
        server = self.serve("--model", f"embed={self.dir / 'embed'}", "--model", f"tiny={self.dir / 'tiny'}")
        self.assertEqual([m["id"] for m in server.json("GET", "/v1/models")[1]["data"]], ["embed", "tiny"])
        self.assertIn("does not make embeddings", server.json("POST", "/v1/embeddings", {"model": "tiny", "input": "a"})[1]["error"]["message"])
        self.assertIn("does not generate text", completion(server, model="embed", prompt="a")[1]["error"]["message"])


if __name__ == "__main__":
    unittest.main()
