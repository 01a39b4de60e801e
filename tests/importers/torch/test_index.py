"""Indexing, gathering, scattering, sorting and reductions."""

import torch
from cases import Case, Cases, add_cases, bools, ints, rand, randn

X, Y = randn(3, 4, 5), randn(2, 3, 4, 5)
AT = torch.tensor([0, 2, 1, 0])


class Index(Cases):
    pass


def index_tables(x, i, j, m):
    return (x[i], x[:, i], x[:, :, i], x[i[:3], j], x[:, i, j[:1]], x[i[:3, None], j], x[:, i[:2, None], j[None]], x[-1, i], x[..., j, None],
            x[:2, j, 1:], x[i[:3], :, j], x[0, i, j[:1]])


ADD = {
    "index": Case(index_tables, X, AT, torch.tensor([1, -1, 0]), bools(3, 4), dynamic=[[0], None, None, None]),
    "index_mask": Case(lambda x, m: (x[m], x[m[:, 0]], x[x > 0], x[:, m[0]]), X, bools(3, 4)),
    "index_put": Case(lambda x, i, v: (x.index_put((i,), v), x.index_put((i[:2], i[1:3]), v[0, 0]), x.index_put((i,), v, accumulate=True)), X, torch.tensor([0, 2, 2]), randn(3, 4, 5)),
    "index_put_columns": Case(lambda x, i, v: (torch.ops.aten.index_put(x, [None, i], torch.tensor(1.0)), torch.ops.aten.index_put(x, [None, i, i], v)), X, torch.tensor([0, 2, 1, 3]), randn(3, 4)),
    "index_select": Case(lambda x: (x.index_select(0, AT), x.index_select(-1, torch.tensor([4, 0])), torch.take(x, torch.tensor([0, 7, -1]))), X),
    "gather": Case(lambda x, i: (x.gather(1, i), x.gather(2, i), torch.take_along_dim(x, i, 1), torch.take_along_dim(x, i[:, :1], 2)), X, ints(3, 4, 5, low=0, high=3), dynamic=[[0], [0]]),
    "gather_smaller": Case(lambda x, i: x.gather(1, i), X, ints(2, 6, 3, low=0, high=4)),
    "scatter": Case(lambda x, i, s: (x.scatter(1, i, s), x.scatter(0, i[:2], 2.5), x.scatter_add(2, i, s), x.scatter(1, i, s, reduce="add"), x.scatter(1, i, s, reduce="multiply")),
                    randn(4, 4, 4), ints(3, 4, 3, low=0, high=4) * 0 + torch.arange(3)[:, None, None] % 3, randn(4, 4, 4)),
    "scatter_reduce": [Case((lambda how, keep: lambda x, i, s: torch.scatter_reduce(x, 0, i, s, reduce=how, include_self=keep))(how, keep), randn(4, 3), ints(6, 3, low=0, high=3), randn(6, 3))
                       for how in ("sum", "prod", "amax", "amin", "mean") for keep in (True, False)],
    "index_add": Case(lambda x, s: (x.index_add(1, AT, s), x.index_add(1, AT, s, alpha=2), x.index_copy(0, torch.tensor([1]), s[:1]), x.index_fill(2, torch.tensor([0, 3]), 7)), X, randn(3, 4, 5, seed=2)),
    "nonzero": Case(lambda x: (torch.nonzero(x > 0), *torch.nonzero(x > 0, as_tuple=True), torch.argwhere(x > 0), torch.masked_select(x, x > 0)), randn(3, 4)),
    "masked_scatter": Case(lambda x, m, s: (x.masked_scatter(m, s), x.masked_scatter(m[:, :1], s)), randn(3, 4), bools(3, 4), randn(20)),
    "scatter_views": Case(lambda x, s: (torch.select_scatter(x, s, 1, 2), torch.select_scatter(x, s, 1, -1), torch.slice_scatter(x, x[:, :2] * 2, 1, 1, 3),
                                        torch.slice_scatter(x, x[:, :2] * 2, 1, 0, None, 2), torch.slice_scatter(x, x[:1], 0, -1), torch.diagonal_scatter(x[0], s[0, :4])), X, randn(3, 5)),
    "embedding": Case(torch.nn.Embedding(10, 4, padding_idx=0), ints(2, 3, low=0, high=10), dynamic=[[0, 1]], more=[(ints(4, 5, low=0, high=10),)]),
    "bucketize": Case(lambda x: (torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5])), torch.bucketize(x, torch.tensor([-1.0, 0.0, 0.5]), right=True),
                                 torch.searchsorted(torch.tensor([[0.0, 1.0], [2.0, 3.0], [0.0, 0.5]]), x[:, :2])), randn(3, 4)),
    "sort": Case(lambda x: (*x.sort(-1), *x.sort(1, descending=True), x.argsort(0), torch.msort(x), *torch.sort(x, stable=True, dim=0)), X, dynamic=[[0]], more=[(randn(6, 4, 5),)]),
    "sort_ints": Case(lambda x: (*x.sort(stable=True), x.argsort(descending=True, stable=True), *torch.sort(x > 0, stable=True)), ints(12)),
    "topk": Case(lambda x: (*x.topk(2), *x.topk(2, 1, largest=False), *x.kthvalue(2, 1), *x.median(1), x.median()), X),
    "unique": Case(lambda x: torch.unique(x, return_inverse=True, return_counts=True), ints(12, low=0, high=5), forms=("raw",)),
    "sum": Case(lambda x, c: (x.sum(), x.sum(1), x.sum((0, 2)), x.sum(-1, keepdim=True), c.sum(), c.sum(0), (c > 0).sum(1), x.sum(dtype=torch.float64), x.sum(())), X, ints(3, 4), dynamic=[[0, 1], None]),
    "mean": Case(lambda x: (x.mean(), x.mean(1), x.mean((1, 2), keepdim=True), x.mean(-1, dtype=torch.float64)), X, dynamic=[[0]]),
    "prod": Case(lambda x, c: (x.prod(), x.prod(1), x.prod(2, keepdim=True), c.prod(0)), X, ints(3, 4)),
    "amax": Case(lambda x, c: (x.amax(), x.amax(1), x.amin((0, 1)), c.amax(1), *torch.aminmax(x, dim=1)), X, ints(3, 4)),
    "max": Case(lambda x, c: (x.max(), x.min(), *x.max(1), *x.min(-1, keepdim=True), *c.max(0), c.min()), X, ints(3, 4)),
    "argmax": Case(lambda x: (x.argmax(), x.argmax(1), x.argmin(-1, keepdim=True), x.argmin(), x.argmax(keepdim=True)), X),
    "any_all": Case(lambda x: (x.any(), x.any(1), x.all(0), x.all(), (x > 0).any(-1, keepdim=True), torch.any(x > 0, dim=(0, 1)), torch.count_nonzero(x, 1)), ints(3, 4, low=-1, high=2)),
    "var": Case(lambda x: (x.var(), x.var(1), x.std(-1, keepdim=True), x.var(1, unbiased=False), torch.var(x, (0, 1), correction=2), *torch.var_mean(x, 1), *torch.std_mean(x), x.std(0, correction=0)), X,
                dynamic=[[1]], more=[(randn(3, 7, 5),)]),
    "norm": Case(lambda x: (x.norm(), x.norm(dim=1), x.norm(1, -1), x.norm(3, 1, keepdim=True), x.norm(float("inf"), 0), torch.linalg.vector_norm(x, dim=(1, 2)), torch.linalg.norm(x[0, 0]),
                            torch.nn.functional.normalize(x, dim=1), torch.linalg.vector_norm(x, 0, dim=1)), X),
    "logsumexp": Case(lambda x: (x.logsumexp(1), x.logsumexp((0, 1), keepdim=True)), X),
    "cumsum": Case(lambda x, c: (x.cumsum(1), c.cumsum(0), x.cumprod(-1), (c > 0).cumsum(1)), X, ints(3, 4)),
    "cummax": Case(lambda x: (*x.cummax(1), *x.cummin(2)), X, forms=("raw",)),
    "empty_dims": Case(lambda x: [y for keep in (False, True) for y in (
        x.sum([], keep), x.mean([], keep), x.amax([], keep), x.amin([], keep), x.var([], keepdim=keep), x.std([], keepdim=keep),
        *torch.var_mean(x, [], keepdim=keep), *torch.std_mean(x, [], keepdim=keep), x.norm(3, [], keep), torch.linalg.vector_norm(x, 1, [], keep),
        torch.nansum(x, [], keep), torch.nanmean(x, [], keep), torch.any(x > 1, [], keep), torch.all(x > 0, [], keep),
        torch.any(x > 1, None, keep))] + [torch.count_nonzero(x > 0, dim=[]), x.logsumexp([], True), torch.any(x[0, 0, 0], [])], X),
    "bytes_any_all": Case(lambda x: (x.any(), x.any(1), torch.all(x, dim=[]), x.all(0, True)), ints(3, 4, low=0, high=2, dtype=torch.uint8)),
    "nansum_of_ints": Case(lambda x: (torch.nansum(x), torch.nansum(x, 1, True), torch.nansum(x, 0, dtype=torch.float32)), ints(3, 4, dtype=torch.int32)),
    "matrix_norm": Case(lambda x: [torch.linalg.norm(x[0], p) for p in (1, -1, float("inf"), float("-inf"))] +
                        [torch.linalg.norm(x, float("inf"), (2, 0), True), torch.linalg.norm(x, 1, (0, 2)), torch.linalg.norm(x, dim=(0, 1)), torch.linalg.norm(x)], X),
    "reductions_of_scalars": Case(lambda x: (x.sum(), x.mean(), x.max(), x.amax(), x.softmax(0), x.cumsum(0), *x.max(0)), torch.tensor(2.5)),
}
add_cases(Index, ADD)
