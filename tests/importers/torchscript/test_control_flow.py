"""Scripted code: control flow, containers, optional values, classes."""

import math
import unittest
from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from script_case import ScriptCase
from torch import nn


class Conditions(ScriptCase):
    def test_branch_on_tensor(self):
        class M(nn.Module):
            def forward(self, x):
                if bool(x.sum() > 0):
                    y = x * 2
                else:
                    y = x - 1
                return y + 1

        for sign in (1, -1):
            self.scripted(M(), sign * torch.rand(2, 3))

    def test_branch_on_size(self):
        class M(nn.Module):
            def forward(self, x):
                if x.size(0) > 2:
                    return x.mean(0)
                return x.sum(0)

        self.scripted(M(), torch.randn(2, 3))
        self.scripted(M(), torch.randn(4, 3))

    def test_early_return(self):
        class M(nn.Module):
            def forward(self, x):
                if x.max() > 5:
                    return x.clamp(max=5.0)
                x = x + 1
                if x.min() < -5:
                    return x.abs()
                return x * 3

        for value in (10.0, -10.0, 1.0):
            self.scripted(M(), torch.full((2, 2), value))

    def test_early_return_in_a_loop(self):
        class M(nn.Module):
            def forward(self, x):
                for i in range(4):
                    x = x * 2
                    if x.sum() > 10:
                        return x - i
                return x

        for value in (0.1, 1.0, 3.0):
            self.scripted(M(), torch.full((3,), value))

    def test_break_and_continue(self):
        class M(nn.Module):
            def forward(self, x, n: int):
                total = torch.zeros_like(x)
                for i in range(10):
                    if i == 2:
                        continue
                    if i > n:
                        break
                    total = total + x * i
                return total

        self.scripted(M(), torch.randn(2, 2), 5)

    def test_branches_change_a_list(self):
        class M(nn.Module):
            def forward(self, x):
                parts: List[torch.Tensor] = [x]
                if x.sum() > 0:
                    parts.append(x * 2)
                else:
                    parts.append(x * 3)
                    parts.append(x * 4)
                return torch.cat(parts)

        for sign in (1, -1):
            self.scripted(M(), sign * torch.rand(2, 3))

    def test_nested_branches(self):
        class M(nn.Module):
            def forward(self, x, y):
                if x.sum() > 0:
                    if y.sum() > 0:
                        z, w = x + y, 1.5
                    else:
                        z, w = x - y, 2.5
                else:
                    z, w = x * y, 3.5
                return z * w

        for a in (1, -1):
            for b in (1, -1):
                self.scripted(M(), a * torch.rand(3), b * torch.rand(3))

    def test_none_in_one_branch(self):
        class M(nn.Module):
            def forward(self, x):
                y: Optional[torch.Tensor] = None
                if x.sum() > 0:
                    y = x * 2
                if y is None:
                    return x
                return x + y

        for sign in (1, -1):
            self.scripted(M(), sign * torch.rand(2, 3))

    def test_write_in_a_branch(self):
        class M(nn.Module):
            def forward(self, x):
                y = x.clone()
                if x.sum() > 0:
                    y[:, 0] = 7.0
                else:
                    y.mul_(2)
                return y

        for sign in (1, -1):
            self.scripted(M(), sign * torch.rand(2, 3))

    def test_ternary_and_logic(self):
        class M(nn.Module):
            def forward(self, x):
                a = x if bool(x[0] > 0) and bool(x[1] > 0) else -x
                return a + (1 if not bool(x[0] > 0) or x.numel() > 10 else 2)

        self.scripted(M(), torch.tensor([1.0, 2.0]))
        self.scripted(M(), torch.tensor([-1.0, 2.0]))

    def test_assert(self):
        class M(nn.Module):
            def forward(self, x):
                assert x.dim() == 2, "rank {}".format(x.dim())
                if x.sum() > 1e6:
                    raise ValueError("too large")
                return x + 1

        self.scripted(M(), torch.randn(2, 3))


class Loops(ScriptCase):
    def test_unrolled(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

            def forward(self, x):
                for i, layer in enumerate(self.layers):
                    x = torch.relu(layer(x)) + i
                return x

        self.both(M(), torch.randn(2, 4))

    def test_while_on_tensor(self):
        class M(nn.Module):
            def forward(self, x):
                while bool(x.sum() < 100):
                    x = x * 2 + 1
                return x

        for value in (0.5, 1000.0):
            self.scripted(M(), torch.full((2, 2), value))

    def test_while_with_counter(self):
        class M(nn.Module):
            def forward(self, x):
                i = 0
                while i < 20 and bool(x.abs().max() > 0.5):
                    x = x / 2
                    i += 1
                return x, i

        self.scripted(M(), torch.randn(3) * 100)

    def test_loop_over_int_input(self):
        class M(nn.Module):
            def forward(self, x, n: int):
                for i in range(n):
                    x = x + i
                return x

        self.scripted(M(), torch.randn(3), 7)
        self.scripted(M(), torch.randn(3), 0)

    def test_loop_appends(self):
        class M(nn.Module):
            def forward(self, x, n: int):
                outs: List[torch.Tensor] = []
                for i in range(n):
                    x = x * 0.5 + i
                    outs.append(x)
                return torch.stack(outs), outs[-1]

        self.scripted(M(), torch.randn(3), 4)

    def test_loop_over_rows(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.GRUCell(3, 4)

            def forward(self, x):
                h = torch.zeros(x.size(1), 4)
                outs: List[torch.Tensor] = []
                for t in range(x.size(0)):
                    h = self.cell(x[t], h)
                    outs.append(h)
                return torch.stack(outs), h

        self.scripted(M(), torch.randn(5, 2, 3))

    def test_write_in_a_loop(self):
        class M(nn.Module):
            def forward(self, x, n: int):
                out = torch.zeros(6, 3)
                for i in range(n):
                    out[i] = x * i
                return out

        self.scripted(M(), torch.randn(3), 4)

    def test_long_loop(self):
        class M(nn.Module):
            def forward(self, x):
                for i in range(1000):
                    x = x * 0.99 + 0.01
                return x

        self.scripted(M(), torch.randn(3))

    def test_nested_loops(self):
        class M(nn.Module):
            def forward(self, x, n: int):
                total = torch.zeros(3)
                for i in range(n):
                    for j in range(i):
                        total = total + x * j
                return total

        self.scripted(M(), torch.randn(3), 4)

    def test_condition_in_a_loop(self):
        class M(nn.Module):
            def forward(self, x, n: int):
                count = 0
                for i in range(n):
                    if bool(x.sum() > 0):
                        x = x - 1
                        count += 1
                    else:
                        x = x + 3
                return x, count

        self.scripted(M(), torch.randn(3), 5)

    def test_attribute_changes_in_a_loop(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.state = torch.zeros(3)

            def forward(self, x, n: int):
                self.state = torch.zeros(3)
                for i in range(n):
                    self.state = self.state + x
                return self.state * 2

        self.scripted(M(), torch.randn(3), 5)

    def test_zip_and_enumerate(self):
        class M(nn.Module):
            def forward(self, xs: List[torch.Tensor], ys: List[torch.Tensor]):
                total = torch.zeros(2)
                for i, (x, y) in enumerate(zip(xs, ys)):
                    total = total + x * y * i
                for k in range(5, 0, -2):
                    total = total + k
                return total, [len(xs), 3]

        self.scripted(M(), [torch.randn(2), torch.randn(2)], [torch.randn(2), torch.randn(2)])

    def test_comprehension(self):
        class M(nn.Module):
            def forward(self, x):
                parts = [row * 2 for row in x.unbind(0)]
                sizes = [p.size(0) + 1 for p in parts]
                return torch.stack(parts), sum(sizes)

        self.scripted(M(), torch.randn(3, 4))


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
