"""Matrix products."""

import numpy as np

from fuzz.registry import op
from fuzz.values import FLOATS


def matmul_shapes(d, dim=8, rank=4):
    """Returns two shapes that MatMul accepts: vectors, matrices, or batches of matrices with broadcastable batch
    dimensions."""
    m, k, n = d.size(dim), d.size(dim), d.size(dim)
    left, right = d.broadcast(2, low=0, high=rank - 2)
    a, b = [*left, m, k], [*right, k, n]
    if d.chance(0.1):
        a = [k]
    if d.chance(0.1):
        b = [k]
    if d.chance(0.03) and len(a) > 1:
        a[-2] = 0
    return a, b


@op("MatMul", weight=3)
def matmul(d):
    dtype = d.dtype("T")
    a, b = matmul_shapes(d, dim=d.choice([4, 8, 40]))
    return d.case([d.tensor(dtype, a), d.tensor(dtype, b)], scale=4 * a[-1] ** 0.5 if dtype in FLOATS else 1)


@op("Gemm", weight=3)
def gemm(d):
    dtype = d.dtype("T")
    m, k, n = (d.size(d.choice([4, 20])) for _ in range(3))
    m = 0 if d.chance(0.03) else m
    ta, tb = d.int(0, 1), d.int(0, 1)
    a = d.tensor(dtype, [k, m] if ta else [m, k])
    b = d.tensor(dtype, [n, k] if tb else [k, n])
    options = [[m, n], [n], [1, n], [m, 1], [1, 1], [1]] + ([[]] if d.since >= 11 else [])
    c = d.tensor(dtype, d.choice(options))
    attrs = {"transA": ta or d.maybe(0), "transB": tb or d.maybe(0),
             "alpha": d.maybe(d.uniform(-2, 2)), "beta": d.maybe(d.choice([0.0, 1.0, d.uniform(-2, 2)]))}
    return d.case([a, b, d.maybe(c) if d.since >= 11 else c], attrs, scale=10)


EQUATIONS = [
    "ij,jk->ik", "ij,jk", "bij,bjk->bik", "bij,bkj->bik", "ij->ji", "ij->i", "ij->", "ii->i", "ii->", "ii",
    "i,j->ij", "i,i->", "ij,ij->ij", "ij,j->i", "bij,bj->bi", "ijk->kji", "ijk,k->ij", "...ij,...jk->...ik",
    "...ij->...ji", "...i->...", "b...d,b...d->b...", "ij,kj->ik", "ij,jk,kl->il", "bhqd,bhkd->bhqk",
    "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "ab,bc,cd->ad", "iij->ij", "i...->...i", "ij,kl->ijkl", "ab,ab->",
    "bsn,bsn->bn", "...ii->...i", " i j , j k -> i k",
]


@op("Einsum", weight=3)
def einsum(d):
    equation = d.choice(EQUATIONS)
    sizes = {c: d.int(1, 5) for c in "abcdefghijklmnopqrstuvwxyz"}
    shared = d.shape(0, 2, zero=0)  # the dims that `...` in the equation stands for
    shapes = [term_shape(term.strip(), sizes, shared) for term in equation.split("->")[0].split(",")]
    dtype = d.dtype("T", without=("float16",))
    return d.case([d.tensor(dtype, s, low=-3, high=3) for s in shapes], {"equation": equation}, scale=100)


def term_shape(term, sizes, shared):
    shape = []
    for part in term.replace("...", ".").replace(" ", ""):
        shape += shared if part == "." else [sizes[part]]
    return shape


@op("Det")
def det(d):
    n = d.int(1, 5)
    x = d.tensor(d.dtype("T"), d.shape(0, 2) + [n, n])
    return d.case([x], scale=100)


def well_conditioned(d, dtype, batch, n):
    """Returns a matrix whose inversion does not amplify rounding errors."""
    return (d.tensor(dtype, [*batch, n, n], low=-1, high=1) + 2 * n * np.eye(n)).astype(dtype if dtype != "float" else np.float32)
