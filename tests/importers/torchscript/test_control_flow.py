"""Scripted code: conditions and loops."""

import unittest
from typing import List, Optional

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


if __name__ == "__main__":
    unittest.main()
