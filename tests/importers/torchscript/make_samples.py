"""Writes the samples: small TorchScript files with inputs and PyTorch's results.

Run it in the environment build/importers-torchscript: python tests/importers/torchscript/make_samples.py
"""

import pathlib
import shutil
import zipfile
from typing import List

import networks
import numpy as np
import torch
from script_case import flatten, input_names
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parents[1] / "fuzz/corpus/torch_fuzz"


class Greedy(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.out = nn.Linear(4, 3)

    def forward(self, x, steps: int):
        h = torch.zeros(x.size(0), 4)
        rows: List[torch.Tensor] = []
        for _ in range(steps):
            h = self.cell(x, h)
            x = torch.softmax(self.out(h), dim=1)
            if bool(x.max() > 0.9):
                x = x * 0.5
            rows.append(x)
        return torch.stack(rows)


class Writes(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 1] = 0.5
        y[0].mul_(2)
        while bool(y.sum() < 10):
            y += 1
        return {"y": y, "rows": y.size(0)}


def samples():
    yield "resnet_traced", torch.jit.trace(networks.BasicBlock(2, 3, 2).eval(), torch.randn(1, 2, 8, 8)), (torch.randn(2, 2, 8, 8),)
    yield "attention_scripted", torch.jit.script(networks.GptBlock(8).eval()), (torch.randn(1, 4, 8),)
    yield "text_scripted", torch.jit.script(networks.TextCnn().eval()), (torch.randint(0, 30, (2, 6)),)
    yield "lstm_traced", torch.jit.trace(nn.LSTM(3, 2, bidirectional=True).eval(), torch.randn(4, 1, 3)), (torch.randn(4, 1, 3),)
    yield "loop_scripted", torch.jit.script(Greedy().eval()), (torch.randn(2, 3), 3)
    yield "writes_scripted", torch.jit.script(Writes()), (torch.randn(3, 3),)
    yield "nms_scripted", torch.jit.script(networks.Nms()), (torch.rand(4, 4).cumsum(1), torch.rand(4))


def small(source, target):
    """Copies an archive without debug information and without the padding between its entries."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            if not name.endswith(".debug_pkl"):
                new.writestr(zipfile.ZipInfo(name), old.read(name))


def main():
    shutil.rmtree(HERE / "samples", ignore_errors=True)
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, model, inputs in samples():
        torch.manual_seed(1)
        folder = HERE / "samples" / name
        folder.mkdir(parents=True)
        torch.jit.save(model, folder / "full.pt")
        small(folder / "full.pt", folder / "model.pt")
        (folder / "full.pt").unlink()
        with torch.no_grad():
            results = model(*[x.clone() if isinstance(x, torch.Tensor) else x for x in inputs])
        names = list(results) if isinstance(results, dict) else [f"output_{i}" for i in range(len(flatten(results)))]
        arrays = {f"in.{key}": value for key, value in input_names(model, inputs).items()}
        arrays |= {f"out.{key}": value for key, value in zip(names, flatten(results))}
        np.savez_compressed(folder / "data.npz", **arrays)
        shutil.copy(folder / "model.pt", CORPUS / f"{name}.pt")


if __name__ == "__main__":
    torch.manual_seed(1)
    main()
