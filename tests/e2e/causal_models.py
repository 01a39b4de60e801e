"""Makes small language models with random weights, as folders with model.onnx, tokenizer.json and its companions.

    python tests/e2e/causal_models.py FOLDER [--layers 12 --heads 12 --width 768 --vocabulary 50257 --context 1024]

The inputs and outputs have the names of the package optimum: input_ids, attention_mask, position_ids and past_key_values.*,
logits and present.*."""

import argparse
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] | trim + '<|im_end|>' + '\n' }}"
            "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


class Builder:
    """Collects nodes and weights of a GPT-2-like model. `scale` is the standard deviation of the weights."""

    def __init__(self, seed, scale):
        self.nodes, self.weights, self.made = [], [], 0
        self.random, self.scale = np.random.default_rng(seed), scale

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"v{self.made + i}" for i in range(outputs)]
        self.made += outputs
        self.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype=np.int64):
        return self.keep(np.asarray(value, dtype))

    def keep(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def normal(self, *dims):
        return self.keep((self.random.standard_normal(dims, np.float32) * self.scale).astype(np.float32))

    def linear(self, x, rows, columns):
        return self.op("Add", self.op("MatMul", x, self.normal(rows, columns)), self.normal(columns))

    def norm(self, x, width):
        ones = self.keep(np.ones(width, np.float32))
        return self.op("LayerNormalization", x, ones, self.keep(np.zeros(width, np.float32)), axis=-1)

    def dim(self, x, axis):
        return self.op("Gather", self.op("Shape", x), self.constant([axis]))


def bias_of(b, mask, ids):
    """Returns what is added to the scores: 0 for a visible key, else a large negative number."""
    total, fresh = b.dim(mask, 1), b.dim(ids, 1)
    squeeze = lambda x: b.op("Squeeze", x, b.constant([0]))  # noqa: E731
    keys = b.op("Range", b.constant(0), squeeze(total), b.constant(1))
    queries = b.op("Range", squeeze(b.op("Sub", total, fresh)), squeeze(total), b.constant(1))
    causal = b.op("LessOrEqual", b.op("Unsqueeze", keys, b.constant([0])), b.op("Unsqueeze", queries, b.constant([1])))
    given = b.op("Unsqueeze", b.op("Cast", mask, to=TensorProto.BOOL), b.constant([1, 2]))
    visible = b.op("And", b.op("Unsqueeze", causal, b.constant([0, 1])), given)
    return b.op("Where", visible, b.constant(0, np.float32), b.constant(np.finfo(np.float32).min, np.float32))


def attention(b, x, bias, past, sizes):
    heads, width = sizes
    size = width // heads
    parts = b.op("Split", b.linear(x, width, 3 * width), outputs=3, axis=-1, num_outputs=3)
    shape = b.constant([0, 0, heads, size])
    q, k, v = (b.op("Transpose", b.op("Reshape", part, shape), perm=[0, 2, 1, 3]) for part in parts)
    k, v = b.op("Concat", past[0], k, axis=2), b.op("Concat", past[1], v, axis=2)
    scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = b.op("Add", b.op("Div", scores, b.constant(size**0.5, np.float32)), bias)
    y = b.op("Transpose", b.op("MatMul", b.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return b.linear(b.op("Reshape", y, b.constant([0, 0, width])), width, width), (k, v)


def gelu(b, x):
    half = b.op("Mul", x, b.constant(0.5, np.float32))
    return b.op("Mul", half, b.op("Add", b.op("Erf", b.op("Div", x, b.constant(2**0.5, np.float32))), b.constant(1, np.float32)))


def causal_model(layers=2, heads=2, width=32, vocabulary=259, context=256, seed=0, scale=0.2, positions=True):  # pylint: disable=too-many-locals
    """Returns a model. Without `positions`, it has no input position_ids: positions follow from the length of the past, so that
    rows of different lengths cannot share a batch."""
    b = Builder(seed, scale)
    words = b.normal(vocabulary, width)
    size, integer = width // heads, TensorProto.INT64
    if positions:
        places = "position_ids"
    else:
        first = b.op("Squeeze", b.op("Sub", b.dim("attention_mask", 1), b.dim("input_ids", 1)), b.constant([0]))
        last = b.op("Squeeze", b.dim("attention_mask", 1), b.constant([0]))
        places = b.op("Unsqueeze", b.op("Range", first, last, b.constant(1)), b.constant([0]))
    x = b.op("Add", b.op("Gather", words, "input_ids"), b.op("Gather", b.normal(context, width), places))
    bias = bias_of(b, "attention_mask", "input_ids")
    pasts, presents = [], []
    for layer in range(layers):
        past = [f"past_key_values.{layer}.{kind}" for kind in ("key", "value")]
        y, present = attention(b, b.norm(x, width), bias, past, (heads, width))
        x = b.op("Add", x, y)
        x = b.op("Add", x, b.linear(gelu(b, b.linear(b.norm(x, width), width, 4 * width)), 4 * width, width))
        pasts += past
        for name, value in zip(("key", "value"), present):
            b.nodes.append(helper.make_node("Identity", [value], [f"present.{layer}.{name}"]))
            presents.append(f"present.{layer}.{name}")
    b.nodes.append(helper.make_node("MatMul", [b.norm(x, width), b.op("Transpose", words, perm=[1, 0])], ["logits"]))
    floats = TensorProto.FLOAT
    inputs = [("input_ids", integer, ["batch", "sequence"]), ("attention_mask", integer, ["batch", "total"])]
    inputs += [("position_ids", integer, ["batch", "sequence"])] if positions else []
    inputs += [(name, floats, ["batch", heads, "past", size]) for name in pasts]
    outputs = [("logits", floats, ["batch", "sequence", vocabulary])]
    outputs += [(name, floats, ["batch", heads, "past + sequence", size]) for name in presents]
    info = lambda values: [helper.make_tensor_value_info(*value) for value in values]  # noqa: E731
    graph = helper.make_graph(b.nodes, "causal", info(inputs), info(outputs), b.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def byte_characters():
    """Returns the characters that stand for the 256 bytes in byte-level vocabularies."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    table = {byte: chr(byte) for byte in printable}
    table.update({byte: chr(256 + i) for i, byte in enumerate(others)})
    return [table[byte] for byte in range(256)]


def tokenizer():
    """Returns a tokenizer of bytes: token i is byte i, and then come the special tokens."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    added = [{"id": 256 + i, "content": text, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False} for i, text in enumerate(SPECIAL)]
    vocabulary = {character: byte for byte, character in enumerate(byte_characters())}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None, "pre_tokenizer": level,
            "post_processor": None, "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                      "fuse_unk": False, "byte_fallback": False, "vocab": vocabulary, "merges": []}}


def write_generator(folder, template=TEMPLATE, **sizes):
    """Writes a folder that `tern serve --model NAME=FOLDER` serves as a text generator."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(causal_model(**sizes), folder / "model.onnx")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    settings = {"eos_token": SPECIAL[0], "bos_token": SPECIAL[0]}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | ({"chat_template": template} if template else {})))
    (folder / "config.json").write_text(json.dumps({"n_positions": sizes.get("context", 256), "eos_token_id": 256}))
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    for name, default in (("layers", 12), ("heads", 12), ("width", 768), ("vocabulary", 50257), ("context", 1024)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = vars(parser.parse_args())
    write_generator(chosen.pop("folder"), scale=0.02, **chosen)


if __name__ == "__main__":
    main()
