"""Writes tests/importers/torch/samples: tiny programs of torch.export with inputs and the results of PyTorch.

python make_samples.py also writes the seeds of the fuzz target torch_fuzz.
"""

import io
import json
import pathlib
import shutil
import zipfile

import numpy as np
import torch
import torch.nn.functional as F
from harness import Function, flat, output_names, to_numpy
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = HERE.parents[1] / "fuzz/corpus/torch_fuzz"
AUTO = torch.export.Dim.AUTO


def writes(x):
    y = x.relu()
    y[:, 1:3] = 2
    y.t()[0].add_(1)
    return y, y.view(-1)[3:].sum()


class Control(nn.Module):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda a: a * 2, lambda a: a - 1, (x,))
        _, z = torch.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 0.5 + 1), (torch.tensor(0), y))
        return z


class Shapes(nn.Module):
    def forward(self, d):
        x = d["x"]
        return {"a": x[:, : x.shape[1] // 2].reshape(-1), "b": [torch.arange(x.shape[0]) * 2, x.shape[1] * 2]}


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.full((5, 5), float("-inf")).triu(1), persistent=False)

    def forward(self, ids):
        x = self.words(ids)
        length = x.shape[1]
        return self.head(F.scaled_dot_product_attention(x, x, x, self.mask[:length, :length]))


SAMPLES = {
    "mlp": (nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)), (torch.randn(3, 4),), None, False),
    "conv": (nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()), (torch.randn(1, 2, 6, 6),), None, False),
    "conv_core": (nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2)), (torch.randn(1, 2, 6, 6),), None, True),
    "lstm": (nn.LSTM(3, 4, bidirectional=True, batch_first=True), (torch.randn(2, 3, 3),), None, False),
    "encoder": (nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), (torch.randn(2, 4, 8),), ({0: AUTO, 1: AUTO},), False),
    "encoder_core": (nn.TransformerEncoderLayer(8, 2, 8, batch_first=True), (torch.randn(2, 4, 8),), ({0: AUTO, 1: AUTO},), True),
    "tied": (Tied(), (torch.randint(0, 7, (2, 5)),), None, False),
    "writes": (Function(writes), (torch.randn(3, 4),), None, False),
    "control": (Control(), (torch.randn(2, 3),), None, False),
    "shapes": (Shapes(), ({"x": torch.randn(3, 6)},), ({"x": {0: AUTO, 1: AUTO}},), False),
}


def stripped(archive):
    """Removes what Tern does not read, which contains paths of this machine: sample inputs and stack traces."""

    def bare(value):
        if isinstance(value, dict):
            return {k: {} if k == "metadata" else bare(v) for k, v in value.items()}
        return [bare(v) for v in value] if isinstance(value, list) else value

    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            if "sample_inputs" in info.filename or ".data/" in info.filename:
                continue
            data = old.read(info)
            if "/models/" in info.filename:
                data = json.dumps(bare(json.loads(data))).encode()
            method = zipfile.ZIP_DEFLATED if len(data) > 30000 else zipfile.ZIP_STORED
            new.writestr(zipfile.ZipInfo(info.filename), data, compress_type=method)
    return out.getvalue()


def write(name, module, args, shapes, core):
    torch.manual_seed(0)
    module = module.eval()
    with torch.no_grad():
        program = torch.export.export(module, args, dynamic_shapes=shapes, strict=False)
        wanted = module(*args)
    if core:
        program = program.run_decompositions()
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    folder = HERE / "samples" / name
    folder.mkdir(parents=True)
    (folder / "model.pt2").write_bytes(stripped(buffer.getvalue()))
    names = [s.arg.name for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    outputs = output_names(program)
    arrays = {f"in.{n}": to_numpy(v) for n, v in zip(names, flat(args), strict=True)}
    arrays |= {f"out.{n}": to_numpy(v) for n, v in zip(outputs, flat(wanted), strict=True)}
    np.savez_compressed(folder / "data.npz", **arrays)


def main():
    shutil.rmtree(HERE / "samples", ignore_errors=True)
    torch.manual_seed(0)
    for name, (module, args, shapes, core) in SAMPLES.items():
        write(name, module, args, shapes, core)
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name in ("mlp", "writes", "control", "shapes"):
        shutil.copy(HERE / "samples" / name / "model.pt2", SEEDS / f"{name}.pt2")


main()
