"""Ways to make a TorchScript file: frozen modules, functions, nested inputs, other element types."""

import unittest
from collections import OrderedDict
from typing import Dict, List, NamedTuple, Optional, Tuple

import networks
import torch
import torch.nn.functional as F
from script_case import ScriptCase
from torch import Tensor, nn


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


class Kinds(ScriptCase):
    def test_frozen(self):
        for model, x in ((networks.ResNet(), torch.randn(1, 3, 32, 32)), (networks.Gpt(), torch.randint(0, 20, (2, 5))),
                         (networks.MobileNet(), torch.randn(1, 3, 32, 32)), (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(2, 3, 8))):
            with self.subTest(type(model).__name__):
                self.compare(torch.jit.freeze(torch.jit.script(model.eval())), x)
                self.compare(torch.jit.freeze(torch.jit.trace(model.eval(), x, check_trace=False)), x)

    def test_function(self):
        @torch.jit.script
        def f(x, y: int = 3):
            return x * y + 1

        class M(nn.Module):
            def forward(self, x):
                return f(x, 4) - f(x)

        self.scripted(M(), torch.randn(3))

    def test_saved_function(self):
        def f(x, y):
            return torch.sigmoid(x) @ y

        x, y = torch.randn(2, 3), torch.randn(3, 4)
        torch.jit.script(f).save(str(self.path))
        self.compare(torch.jit.load(str(self.path)), x, y)

    def test_trace_inside_of_script(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = torch.jit.trace(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), torch.zeros(1, 4))

            def forward(self, x):
                if x.sum() > 0:
                    x = self.body(x)
                return self.body(x)

        self.scripted(M(), torch.randn(2, 4))

    def test_script_inside_of_trace(self):
        class Inner(nn.Module):
            def forward(self, x, n: int):
                for i in range(n):
                    x = x + i
                return x

        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.jit.script(Inner())

            def forward(self, x):
                return self.inner(x * 2, 3)

        self.traced(M(), torch.randn(2, 4))

    def test_traced_containers(self):
        class M(nn.Module):
            def forward(self, pair: Tuple[Tensor, Tensor], more: Dict[str, Tensor]):
                return Pair(pair[0] + more["x"], pair[1] * more["y"]), [pair[0], pair[1]]

        inputs = (torch.randn(2), torch.randn(2)), {"x": torch.randn(2), "y": torch.randn(2)}
        self.compare(torch.jit.trace(M(), inputs, strict=False, check_trace=False), *inputs)

    def test_ordered_outputs(self):
        class M(nn.Module):
            def forward(self, x):
                out: Dict[str, Tensor] = {}
                out["b"] = x + 1
                out["a"] = x + 2
                return out

        self.scripted(M(), torch.randn(2))

    def test_types(self):
        for dtype in (torch.float64, torch.float16, torch.bfloat16):
            with self.subTest(dtype):
                model = nn.Sequential(OrderedDict(up=nn.Linear(4, 3))).to(dtype)

                class M(nn.Module):
                    def __init__(self, inner):
                        super().__init__()
                        self.inner = inner
                        self.kind = dtype

                    def forward(self, x):
                        return self.inner(x.to(self.kind)).float()

                self.both(M(model), torch.randn(2, 4), rtol=2e-2, atol=2e-2)

    def test_shared_weights(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
                self.b.weight = self.a.weight
                self.turned = nn.Parameter(torch.randn(4, 4).t())

            def forward(self, x):
                return self.b(self.a(x)) @ self.turned

        self.both(M(), torch.randn(2, 4))

    def test_state(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(1))
                self.cache = torch.jit.Attribute([], List[Tensor])
                self.names = ("a", 1.5, True)

            def forward(self, x):
                self.calls += 1
                self.cache.append(x)
                self.cache.append(x * 2)
                return torch.cat(self.cache) * self.calls + self.names[1]

        model = torch.jit.script(M())
        self.compare(model, torch.randn(2))

    def test_rotary_decoder_step(self):
        """A decoder layer with a cache of keys and values."""

        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.qkv = nn.Linear(8, 24, bias=False)
                self.norm = nn.Parameter(torch.ones(8))
                self.register_buffer("freq", 1.0 / (100.0 ** (torch.arange(0, 4, 2).float() / 4)))

            def rotate(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
                half = x.shape[-1] // 2
                return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin

            def forward(self, x: Tensor, past: Optional[Tuple[Tensor, Tensor]] = None):
                x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.norm
                q, k, v = self.qkv(x).view(x.size(0), x.size(1), 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
                start = 0 if past is None else past[0].size(2)
                t = torch.arange(start, start + x.size(1)).float()
                angles = torch.outer(t, self.freq)
                emb = torch.cat((angles, angles), dim=-1)
                q, k = self.rotate(q, emb.cos(), emb.sin()), self.rotate(k, emb.cos(), emb.sin())
                if past is not None:
                    k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
                y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
                return y, (k, v)

        self.scripted(M(), torch.randn(1, 3, 8))
        self.scripted(M(), torch.randn(1, 1, 8), (torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4)))

    def test_setstate(self):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.ones(2)
                self.training = False

            @torch.jit.export
            def __getstate__(self):
                return (self.scale * 3, self.training)

            @torch.jit.export
            def __setstate__(self, state: Tuple[Tensor, bool]):
                self.scale = state[0]
                self.training = state[1]

            def forward(self, x):
                return x * self.scale

        self.scripted(M(), torch.randn(2))

    def test_many_operators(self):
        class M(nn.Module):
            def forward(self, x, y):
                a = torch.einsum("ij,kj->ik", x, y)
                b = torch.cumsum(x, dim=1).flip([0]).roll(1, 0)
                c, at = torch.sort(x, dim=1, descending=True)
                d = torch.where(x > 0, x, torch.zeros_like(y))
                e = torch.stack([x, y]).norm(p=2, dim=0) + x.std(dim=1, keepdim=True)
                f = F.pad(x, (1, 1), value=2.0).clamp(-1, 1).repeat(2, 1).expand(4, 5)
                g = torch.gather(x, 1, at) + x.new_full((2, 3), 0.5) + torch.linspace(0, 1, 3)
                h = x.reshape(-1).masked_select(x.reshape(-1) > 0).sum() + torch.addmm(a, x, y.t()).trace()
                i = torch.tensor([1, 2]).to(torch.float32) + x.any(dim=1) + torch.logsumexp(x, 1)
                return a, b, c, d, e, f, g, h, i, x.unsqueeze(0).tile((2, 1, 1)), torch.argmax(x), x.topk(2)[0]

        self.both(M(), torch.randn(2, 3), torch.randn(2, 3))

    def test_reductions(self):
        class M(nn.Module):
            def forward(self, x):
                a = torch.linalg.norm(x, 1), torch.linalg.norm(x, float("inf"), (1, 0), True), torch.linalg.norm(x)
                b = torch.any(x > 0, dim=[]), torch.all(x > 0, dim=[0, 1], keepdim=True), torch.all((x > 0).to(torch.uint8), dim=1)
                return a, b, x.sum([]), x.amax([], True), x.var([]), torch.nansum(x, [], True)

        self.both(M(), torch.randn(2, 3))


if __name__ == "__main__":
    unittest.main()
