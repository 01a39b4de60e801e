"""Element-wise operators of PyTorch."""

import torch
import torch.nn.functional as F
from cases import Case, Cases, add_cases, bools, ints, rand, randn

X, Y, P = randn(3, 5), randn(3, 5, seed=1), rand(3, 5) + 0.1
EDGE = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e-8, -1e-8, 2.5, -2.5])
HALF = randn(3, 5, dtype=torch.float16)

FLOAT = ["exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan", "erf", "erfc", "sigmoid", "expm1", "exp2", "sinc",
         "deg2rad", "rad2deg", "softplus", "silu", "gelu", "mish", "selu", "celu", "elu", "hardswish", "hardsigmoid", "relu6",
         "softsign", "logsigmoid", "tanhshrink", "hardshrink", "softshrink", "leaky_relu", "hardtanh", "square"]
POSITIVE = ["sqrt", "rsqrt", "log", "log2", "log10", "log1p", "reciprocal", "logit"]
UNIT = ["asin", "acos", "atanh"]
ANY = ["abs", "neg", "sign", "relu", "floor", "ceil", "round", "trunc", "frac", "isnan", "isinf", "isfinite", "nan_to_num", "logical_not",
       "positive", "sgn", "signbit", "isposinf", "isneginf"]


def function(name):
    return getattr(torch, name, None) or getattr(F, name)


class Elementwise(Cases):
    def test_exact_zeros_of_log1p_and_expm1(self):
        tiny = torch.tensor([1e-6, -1e-6, 1e-4, 0.5, 3.0])
        Case(lambda x: (torch.log1p(x.abs()), torch.expm1(x)), tiny, rtol=1e-5, atol=0).run(self)


TABLE = {name: Case((lambda f: lambda x: f(x))(function(name)), X * 2, dynamic=[[0]], more=[(randn(7, 5),)]) for name in FLOAT}
TABLE |= {name: Case((lambda f: lambda x: f(x))(function(name)), P / 1.2) for name in POSITIVE}
TABLE |= {name: Case((lambda f: lambda x: f(x))(function(name)), rand(3, 5) * 1.8 - 0.9) for name in UNIT}
TABLE |= {f"{name}_edges": Case((lambda f: lambda x: f(x))(function(name)), EDGE) for name in ANY}
TABLE |= {
    "acosh": Case(torch.acosh, P + 1),
    "float_functions_of_ints": Case(lambda x: (torch.sin(x), torch.sqrt(x.abs()), torch.sigmoid(x), torch.exp(x)), ints(4, 3)),
    "rounding_of_ints": Case(lambda x: (x.floor(), x.abs(), x.neg(), x.sign(), x.relu()), ints(4, 3)),
    "half": Case(lambda x: (x.exp(), x * 2, x + x, F.gelu(x), torch.tanh(x)), HALF, rtol=5e-3, atol=1e-3),
    "bitwise_not": [Case(torch.bitwise_not, ints(4)), Case(torch.bitwise_not, bools(4))],
    "gelu_tanh": Case(lambda x: F.gelu(x, approximate="tanh"), X),
    "elu_scales": Case(lambda x: (F.elu(x, 0.3), F.celu(x, 1.7), F.leaky_relu(x, 0.3)), X),
    "softplus_beta": Case(lambda x: F.softplus(x, 2.0, 5.0), X * 4),
    "threshold": Case(lambda x: F.threshold(x, 0.1, 20.0), X),
    "rrelu_core": Case(torch.nn.RReLU(), X),
    "prelu": [Case(torch.nn.PReLU(), X), Case(torch.nn.PReLU(5), randn(2, 5, 3, 3)), Case(torch.nn.PReLU(5), X)],
    "glu": Case(lambda x: (F.glu(x, -1), F.glu(x, 0)), randn(4, 6)),
    "add_types": Case(lambda a, b, c: (a + b, a + 1, b + 1.5, b + c, c + 2, c + c, torch.add(a, b, alpha=3)), X,
                      ints(5), bools(3, 5)),
    "sub_types": Case(lambda a, b: (a - b, 1 - a, b - 2, torch.sub(b, a, alpha=2), torch.rsub(a, 3)), X, ints(5)),
    "mul_types": Case(lambda a, b, c: (a * b, b * 2, b * 0.5, c * c, c * 3, a * c), X, ints(5), bools(3, 5)),
    "small_ints": Case(lambda a, b: (a + b, a * 2, a // 3, b % 4, a.float() / b), ints(4, dtype=torch.int32), ints(4, low=1, dtype=torch.int8)),
    "unsigned": Case(lambda a, b: (a + b, a.int() - b, a // 3, a % 7, a + 1), ints(4, low=0, high=200, dtype=torch.uint8), ints(4, low=1, dtype=torch.int8)),
    "div": Case(lambda a, b, c: (a / b, c / 3, c / c.abs().clamp(min=1), a / 2, 2 / b), X, P, ints(3, 5)),
    "div_modes": Case(lambda a, b, c, d: (torch.div(a, b, rounding_mode="floor"), torch.div(a, b, rounding_mode="trunc"),
                                          torch.div(c, d, rounding_mode="floor"), torch.div(c, d, rounding_mode="trunc"), c // d, c // -3, a // 0.7),
                      X * 5, P, ints(3, 5), ints(3, 5, low=1)),
    "remainder": Case(lambda a, c, d: (a % 0.7, torch.fmod(a, 0.7), c % d, torch.fmod(c, d), c % -4, torch.remainder(a, -0.3), 7 % d), X * 5,
                      ints(3, 5), ints(3, 5, low=1)),
    "pow": Case(lambda a, c: (a**2, a**0.5, a**-1, 2**a, torch.pow(a, a), c**2, c**3, 2.0**c, a**3.0, a.pow(1), c**0.5), P, ints(4, low=0, high=5)),
    "compare": Case(lambda a, b, c: (a < b, a <= 0, a > b, a >= 0.5, a == b, a != b, c == 2, c > 1.5, c < a[0, 0]), X, Y, ints(5)),
    "compare_bools": Case(lambda a, b: (a == b, a != b, a > b, a == True), bools(7), bools(7, seed=3)),  # noqa: E712
    "logic": Case(lambda a, b, c: (a & b, a | b, a ^ b, ~a, torch.logical_and(a, c), torch.logical_or(a, c), torch.logical_xor(a, c)), bools(5),
                  bools(5, seed=2), ints(5, low=-1, high=2)),
    "bits": Case(lambda a, b: (a & b, a | b, a ^ b, a << 2, a >> 1, a & 3, a | 8, a ^ 5), ints(5), ints(5, low=0)),
    "max_min": Case(lambda a, b, c: (torch.maximum(a, b), torch.minimum(a, b), torch.max(a, b), torch.min(a, b), torch.fmax(a, b), torch.maximum(c, a)), X,
                    Y, ints(5)),
    "clamp": Case(lambda a, c, lo: (a.clamp(-0.5, 0.5), a.clamp(min=0), a.clamp(max=0.1), c.clamp(-2, 2), c.clamp(min=0.5), a.clamp(lo, lo + 1),
                                    torch.clamp_min(a, 0.2), torch.clamp_max(a, 0.2), a.clamp(min=lo), F.hardtanh(a, -0.3, 0.4)), X, ints(3, 5), Y),
    "where": Case(lambda m, a, b, c: (torch.where(m, a, b), torch.where(m, a, 0.0), torch.where(m, 1.0, b), torch.where(m, a, c), torch.where(a > 0, 1, 0)),
                  bools(3, 5), X, Y, ints(5)),
    "masked_fill": Case(lambda x, m: (x.masked_fill(m, -1e9), x.masked_fill(m, float("-inf")), x.masked_fill(m[0], 2)), X, bools(3, 5)),
    "atan2": Case(torch.atan2, torch.tensor([1.0, -1.0, 0.0, 0.0, 2.0, -2.0, 0.0, 1.0]), torch.tensor([1.0, -1.0, 1.0, -1.0, 0.0, 0.0, 0.0, -3.0])),
    "lerp": Case(lambda a, b: (torch.lerp(a, b, 0.3), torch.lerp(a, b, a)), X, Y),
    "addcmul": Case(lambda a, b, c: (torch.addcmul(a, b, c, value=0.5), torch.addcdiv(a, b, c, value=2)), X, Y, P),
    "logaddexp": Case(lambda a, b: (torch.logaddexp(a, b), torch.hypot(a, b), torch.copysign(a, b), torch.xlogy(b.abs(), a.abs())), X, Y),
    "softmax": Case(lambda x, h: (x.softmax(-1), x.softmax(0), x.log_softmax(1), h.softmax(-1, dtype=torch.float32), F.softmin(x, 1)), X, HALF, dynamic=[[0, 1], None]),
    "scalar_tensors": Case(lambda x, s: (x + s, s * 2, torch.tensor(2.0) * x), X, torch.tensor(0.5)),
    "casts": Case(lambda x, c: (x.to(torch.int32), x.long(), c.float(), x.bool(), x.half(), x.to(torch.float64), c.to(x.dtype), x.type_as(c), c.bool().float(), x.double().int()),
                  X * 4, ints(3, 5), rtol=1e-3),
    "bfloat16": Case(lambda x: (x.to(torch.bfloat16) * 2).float(), X, rtol=1e-2),
    "item": Case(lambda x: x + x.sum().item(), X),
    "isin": Case(lambda x: torch.isin(x, torch.tensor([1, 3, 5])), ints(3, 4)),
    "real_of_complex": Case(lambda x: torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(x + 1)), randn(3, 4, 2), forms=("raw",)),
    "polar": Case(lambda x: torch.view_as_real(torch.polar(torch.ones_like(x), x)), X, forms=("raw",)),
}
add_cases(Elementwise, TABLE)
