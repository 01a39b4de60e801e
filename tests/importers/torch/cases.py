"""Turns tables of functions into tests: each function is exported as it is and with the core operators only."""

import unittest

import torch
from harness import check

AUTO = torch.export.Dim.AUTO


def randn(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed + sum(shape)), dtype=torch.float32).to(dtype)


def rand(*shape, seed=0):
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def ints(*shape, low=-9, high=10, dtype=torch.int64, seed=0):
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed + sum(shape))).to(dtype)


def bools(*shape, seed=0):
    return rand(*shape, seed=seed) > 0.5


class Case:
    """A function and its arguments. `dynamic` lists the dims of each tensor that may vary; `more` are further arguments
    for the program with dynamic dims."""

    def __init__(self, function, *args, dynamic=None, more=(), rtol=1e-3, atol=1e-5, forms=("raw", "core")):
        self.function, self.args, self.dynamic, self.more = function, args, dynamic, more
        self.rtol, self.atol, self.forms = rtol, atol, forms

    def run(self, test):
        for form in self.forms:
            for dynamic in (False, True) if self.dynamic and form == "raw" else (bool(self.dynamic),):
                with test.subTest(form=form, dynamic=dynamic, args=[tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in self.args]):
                    shapes = tuple({d: AUTO for d in dims} if dims else None for dims in self.dynamic) if dynamic else None
                    self.check(test, shapes, form)

    def check(self, test, shapes, form):
        if shapes is not None:
            shapes = {"args": shapes} if not isinstance(self.function, torch.nn.Module) else shapes
        check(test, self.function, self.args, dynamic=shapes, decompose=form == "core", rtol=self.rtol, atol=self.atol,
              more=self.more if shapes else ())


def add_cases(cls, table):
    """Adds a test per name. A value is a Case or a list of them."""
    for name, cases in table.items():
        cases = cases if isinstance(cases, list) else [cases]
        setattr(cls, f"test_{name}", lambda self, cases=cases: run_all(self, cases))


def run_all(test, cases):
    for case in cases:
        case.run(test)


class Cases(unittest.TestCase):
    longMessage = True
