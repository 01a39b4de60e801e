"""Scripted code: containers, classes, optional values and writes."""

import math
import unittest
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from script_case import ScriptCase
from torch import nn


class Point(NamedTuple):
    x: torch.Tensor
    y: torch.Tensor


class Mode(Enum):
    ADD = 1
    MUL = 2


@torch.jit.script
class Counter:
    def __init__(self, start: int):
        self.count = start
        self.seen: List[torch.Tensor] = []

    def add(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.seen.append(x)
        return x * self.count


class Containers(ScriptCase):
    def test_tuple_input_and_output(self):
        class M(nn.Module):
            def forward(self, pair: Tuple[torch.Tensor, torch.Tensor]):
                a, b = pair
                return a + b, (a, b * 2)

        self.scripted(M(), (torch.randn(2), torch.randn(2)))

    def test_dict_input(self):
        class M(nn.Module):
            def forward(self, batch: Dict[str, torch.Tensor]):
                return {"sum": batch["a"] + batch["b"], "difference": batch["a"] - batch["b"]}

        self.scripted(M(), {"a": torch.randn(2), "b": torch.randn(2)})

    def test_dicts(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = {"one": 1, "two": 2}

            def forward(self, x):
                out: Dict[str, torch.Tensor] = {}
                for key, value in self.table.items():
                    out[key] = x * value
                if "one" in out:
                    out["three"] = out["one"] + out["two"]
                out.pop("one")
                return out, len(out)

        self.scripted(M(), torch.randn(2))

    def test_named_tuple(self):
        class M(nn.Module):
            def forward(self, p: Point):
                q = Point(p.x + 1, p.y * 2)
                return Point(x=q.y, y=q.x)

        self.scripted(M(), Point(torch.randn(2), torch.randn(3)))

    def test_enum(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.mode = Mode.MUL

            def forward(self, x):
                if self.mode == Mode.MUL:
                    return x * self.mode.value
                return x + 1

        self.scripted(M(), torch.randn(2))

    def test_script_class(self):
        class M(nn.Module):
            def forward(self, x):
                counter = Counter(3)
                y = counter.add(x)
                z = counter.add(y)
                return z, torch.cat(counter.seen), counter.count

        self.scripted(M(), torch.randn(2))

    def test_list_functions(self):
        class M(nn.Module):
            def forward(self, x):
                values = [3, 1, 2]
                values.append(5)
                values.insert(0, 7)
                values.sort()
                values.reverse()
                more = values[1:3] + [values.index(5), values.count(1), max(values), min(values)]
                more.extend([9])
                last = more.pop()
                return x * last + len(more), more, 5 in values

        self.scripted(M(), torch.randn(2))

    def test_strings(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.mode = "mul_2"

            def forward(self, x):
                if self.mode.startswith("mul"):
                    return x * int(self.mode.split("_")[1])
                return x

        self.scripted(M(), torch.randn(2))

    def test_optional_input(self):
        class M(nn.Module):
            def forward(self, x, mask: Optional[torch.Tensor] = None, scale: float = 2.0):
                if mask is not None:
                    x = x * mask
                return x * scale

        self.scripted(M(), torch.randn(2))
        self.scripted(M(), torch.randn(2), torch.tensor([0.0, 1.0]))
        self.scripted(M(), torch.randn(2), torch.tensor([0.0, 1.0]), 0.5)

    def test_math(self):
        class M(nn.Module):
            def forward(self, x):
                n = x.size(1)
                s = math.sqrt(n) + math.floor(2.7) + math.log(8.0) / math.pi
                return x * s + 7 // 2 + (-7) % 3 + 2**3 + float(n) / 2

        self.scripted(M(), torch.randn(2, 5))

    def test_submodules_and_functions(self):
        class Block(nn.Module):
            def __init__(self, n: int):
                super().__init__()
                self.n = n
                self.w = nn.Parameter(torch.randn(n, n))

            def helper(self, x, twice: bool):
                y = x @ self.w
                return y * 2 if twice else y

            def forward(self, x):
                return self.helper(x, True) + self.helper(x, False)

        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleDict({"a": Block(3), "b": Block(3)})
                self.tail = nn.Sequential(Block(3), nn.Tanh())

            def forward(self, x):
                for name, block in self.blocks.items():
                    x = block(x)
                return self.tail(x)

        self.both(M(), torch.randn(2, 3))


class InPlace(ScriptCase):
    def test_views(self):
        class M(nn.Module):
            def forward(self, x):
                y = x.clone()
                y[0].add_(1)
                row = y[1]
                row *= 3
                y[:, 1:3] = x[:, 0:2]
                z = y.view(-1)
                z[0] = 42
                y.transpose(0, 1)[2].zero_()
                return y, row, z

        self.both(M(), torch.randn(3, 4))

    def test_masks(self):
        class M(nn.Module):
            def forward(self, x):
                y = x.clone()
                y[y < 0] = 0.5
                y.masked_fill_(y > 1, 1.0)
                return y

        self.both(M(), torch.randn(3, 4))

    def test_relu_in_place(self):
        self.both(nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True), nn.Hardswish(inplace=True)), torch.randn(2, 4))

    def test_buffers(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("mean", torch.randn(3, 1, 1))
                self.register_buffer("steps", torch.tensor(4))

            def forward(self, x):
                x = x.sub(self.mean).div_(2)
                return x * int(self.steps)

        self.scripted(M(), torch.randn(2, 3, 4, 4))

    def test_indexing(self):
        class M(nn.Module):
            def forward(self, x, i):
                a = x[..., 0]
                b = x[:, None, -1]
                c = x[1:, ::2]
                d = x[i]
                e = x[[0, 2]]
                return a, b, c, d, e

        self.both(M(), torch.randn(3, 4, 5), torch.tensor([2, 0]))


if __name__ == "__main__":
    unittest.main()
