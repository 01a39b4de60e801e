"""Writes small TensorFlow Lite models, operator by operator."""

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

TYPES = {"float32": 0, "float16": 1, "int32": 2, "uint8": 3, "int64": 4, "string": 5, "bool": 6, "int16": 7, "complex64": 8, "int8": 9,
         "float64": 10, "uint64": 12, "resource": 13, "uint32": 15, "uint16": 16, "int4": 17}


class Tensor:
    """A tensor of a subgraph. `data` makes it constant. `q` is (scale, zero point), or (scales, zero points, axis)."""

    def __init__(self, shape, dtype="float32", data=None, q=None, variable=False, name=None, low=None, high=None, signature=None, blocks=None):
        self.shape, self.dtype, self.q, self.variable, self.name = list(shape), dtype, q, variable, name
        self.low, self.high, self.signature, self.blocks = low, high, signature, blocks
        self.data = None if data is None else data if dtype in ("string", "int4") else np.asarray(data, dtype).reshape(shape)

    def random(self, rng):
        if self.dtype == "bool":
            return rng.random(self.shape) < 0.5
        kind = np.dtype(self.dtype)
        if kind.kind == "f":
            low, high = -2 if self.low is None else self.low, 2 if self.high is None else self.high
            return rng.uniform(low, high, self.shape).astype(kind)
        info = np.iinfo(kind)
        low, high = (info.min, info.max) if self.q is not None else (-9, 9) if info.min < 0 else (0, 9)
        low, high = low if self.low is None else self.low, high if self.high is None else self.high
        return rng.integers(low, high, self.shape, endpoint=True).astype(kind)


def const(data, dtype="int32", q=None):
    array = np.asarray(data, dtype)
    return Tensor(array.shape, dtype, array, q)


def options(table_name, **fields):
    """Options of an operator, by the name of their table."""
    table = getattr(schema, table_name + "T")()
    for key, value in fields.items():
        if not hasattr(table, key):
            raise AttributeError(f"{table_name} has no {key}")
        setattr(table, key, value)
    return table_name, table


class Operator:
    def __init__(self, code, inputs, outputs, opts=None, custom=None, intermediates=(), version=1):
        self.code, self.inputs, self.outputs, self.opts, self.custom = code, inputs, outputs, opts, custom
        self.intermediates, self.version = intermediates, version


class Graph:
    """A subgraph: its operators, inputs and outputs are made of Tensor objects."""

    def __init__(self, operators, inputs, outputs, name="main"):
        self.operators, self.inputs, self.outputs, self.name = operators, inputs, outputs, name


def string_bytes(texts):
    """The bytes of a constant of strings: the count, the offsets and the end, then the texts."""
    texts = [t.encode() if isinstance(t, str) else t for t in texts]
    at = 4 * (len(texts) + 2)
    words = [len(texts)]
    for text in texts:
        words.append(at)
        at += len(text)
    words.append(at)
    return np.array(words, np.int32).tobytes() + b"".join(texts)


class Writer:
    def __init__(self, graphs, signatures=()):
        self.graphs, self.signatures = graphs, signatures
        self.buffers = [schema.BufferT()]
        self.codes = []

    def buffer(self, tensor):
        if tensor.data is None:
            return 0
        b = schema.BufferT()
        raw = string_bytes(tensor.data) if tensor.dtype == "string" else bytes(tensor.data) if tensor.dtype == "int4" else tensor.data.tobytes()
        b.data = np.frombuffer(raw, np.uint8)
        self.buffers.append(b)
        return len(self.buffers) - 1

    def code(self, op):
        number = schema.BuiltinOperator.CUSTOM if op.code.startswith("CUSTOM:") else getattr(schema.BuiltinOperator, op.code)
        key = (number, op.code, op.version)
        if key not in self.codes:
            self.codes.append(key)
        return self.codes.index(key)

    def quantization(self, tensor, numbers):
        if tensor.q is None and tensor.blocks is None:
            return None
        p = schema.QuantizationParametersT()
        if tensor.blocks is not None:
            size, scales = tensor.blocks
            p.detailsType = schema.QuantizationDetails.BlockwiseQuantization
            p.details = schema.BlockwiseQuantizationT()
            p.details.scales, p.details.zeroPoints, p.details.blockSize = numbers[id(scales)], -1, size
            return p
        scale, zero = tensor.q[0], tensor.q[1]
        p.scale = np.atleast_1d(np.asarray(scale, np.float32))
        p.zeroPoint = np.atleast_1d(np.asarray(zero, np.int64))
        if len(tensor.q) > 2:
            p.quantizedDimension = tensor.q[2]
        return p

    def subgraph(self, graph):
        numbers, tensors = {}, []

        def number(t):
            if t is None:
                return -1
            if id(t) not in numbers:
                if t.blocks is not None:
                    number(t.blocks[1])
                numbers[id(t)] = len(tensors)
                tensors.append(t)
            return numbers[id(t)]

        s = schema.SubGraphT()
        s.name = graph.name
        s.inputs = [number(t) for t in graph.inputs]
        s.operators = []
        for op in graph.operators:
            o = schema.OperatorT()
            o.opcodeIndex = self.code(op)
            o.inputs = [number(t) for t in op.inputs]
            o.outputs = [number(t) for t in op.outputs]
            if op.intermediates:
                o.intermediates = [number(t) for t in op.intermediates]
            if op.opts:
                name, table = op.opts
                if hasattr(schema.BuiltinOptions, name):
                    o.builtinOptionsType, o.builtinOptions = getattr(schema.BuiltinOptions, name), table
                else:
                    o.builtinOptions2Type, o.builtinOptions2 = getattr(schema.BuiltinOptions2, name), table
            if op.custom is not None:
                o.customOptions = np.frombuffer(op.custom, np.uint8)
            s.operators.append(o)
        s.outputs = [number(t) for t in graph.outputs]
        s.tensors = []
        for i, t in enumerate(tensors):
            out = schema.TensorT()
            out.shape, out.type, out.buffer = t.shape, TYPES[t.dtype], self.buffer(t)
            out.name = t.name if t.name is not None else f"t{i}"
            out.isVariable = t.variable
            out.quantization = self.quantization(t, numbers)
            if t.signature is not None:
                out.shapeSignature = t.signature
            s.tensors.append(out)
        return s, numbers

    def bytes(self):
        model = schema.ModelT()
        model.version = 3
        made = [self.subgraph(g) for g in self.graphs]
        model.subgraphs = [s for s, _ in made]
        model.operatorCodes = []
        for number, code, version in self.codes:
            c = schema.OperatorCodeT()
            c.builtinCode, c.deprecatedBuiltinCode, c.version = number, min(number, 127), version
            if code.startswith("CUSTOM:"):
                c.customCode = code[7:]
            model.operatorCodes.append(c)
        model.buffers = self.buffers
        model.signatureDefs = []
        for key, index, inputs, outputs in self.signatures:
            d = schema.SignatureDefT()
            d.signatureKey, d.subgraphIndex = key, index
            d.inputs, d.outputs = [], []
            for source, target in ((inputs, d.inputs), (outputs, d.outputs)):
                for name, tensor in source.items():
                    m = schema.TensorMapT()
                    m.name, m.tensorIndex = name, made[index][1][id(tensor)]
                    target.append(m)
            model.signatureDefs.append(d)
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def single(op):
    """The bytes of a model with one operator. Its inputs that are neither constant nor variable are the model's inputs."""
    inputs = []
    for t in op.inputs:
        if t is not None and t.data is None and not t.variable and t not in inputs:
            inputs.append(t)
    return Writer([Graph([op], inputs, op.outputs)]).bytes()
