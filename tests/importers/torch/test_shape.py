"""Operators that change dims, join or create tensors, and writes to views."""

import torch
from cases import Case, Cases, add_cases, bools, ints, rand, randn

X = randn(2, 3, 4)


class Shape(Cases):
    pass


TABLE = {
    "view": Case(lambda x: (x.view(-1, 4), x.view(-1), x.reshape(x.shape[0], -1), x.view(x.shape[0], 1, x.shape[1] * 4)), X, dynamic=[[0, 1]],
                 more=[(randn(5, 6, 4),)]),
    "view_as": Case(lambda x, y: (x.view_as(y), x.reshape(y.shape)), X, randn(4, 6)),
    "view_dtype": Case(lambda x: x.view(torch.int32), X),
    "permute": Case(lambda x: (x.permute(2, 0, 1), x.transpose(0, -1), x.mT, x[0].t(), x.movedim(0, 2), x.swapaxes(1, 2)), X, dynamic=[[0, 1]]),
    "movedim_lists": Case(lambda x: torch.movedim(x, (0, 1), (2, 0)), X),
    "squeeze": Case(lambda x: (x.squeeze(), x.squeeze(1), x.squeeze(0), x.unsqueeze(-1), x.unsqueeze(0), x.squeeze((1, 3))), randn(2, 1, 3, 1)),
    "flatten": Case(lambda x: (x.flatten(), x.flatten(1), x.flatten(0, 1), x.ravel(), x.flatten(1, 2)), X, dynamic=[[0, 1]], more=[(randn(3, 5, 4),)]),
    "unflatten": Case(lambda x: x.unflatten(2, (2, -1)), X, dynamic=[[0]]),
    "expand": Case(lambda x, y: (x.expand(3, 4), x.expand(2, -1, 4), x.expand_as(y), torch.broadcast_to(x, (3, 4))), randn(3, 1), randn(3, 4)),
    "expand_dynamic": Case(lambda x, y: x.expand(y.shape[0], -1, 4), randn(3, 1), randn(5, 2), dynamic=[None, [0]], more=[(randn(3, 1), randn(7, 2))]),
    "slice": Case(lambda x: (x[:, 1:], x[..., ::2], x[:, :-1, 1:3], x[1:1], x[0], x[:, -1], x[..., 0:100], x[:, 1:].narrow(2, 1, 2)), X, dynamic=[[0, 1]],
                  more=[(randn(4, 5, 4),)]),
    "slice_computed": Case(lambda x: (x[:, : x.shape[1] // 2], x[:, x.shape[1] // 2 :]), randn(2, 6, 4), dynamic=[[1]], more=[(randn(2, 9, 4),)]),
    "split": Case(lambda x: (*x.split(2, 2), *x.split([1, 2], 1), *x.chunk(2, 2), *x.chunk(3, 2), *x.unbind(1), *torch.tensor_split(x, 3, 2), *torch.tensor_split(x, (1, 3), 2)), X,
                  dynamic=[[0]]),
    "cat": Case(lambda a, b: (torch.cat([a, b], 1), torch.stack([a[:, :2], b], 0), torch.stack([b, b], -1), torch.hstack([a, b]), torch.vstack([b, b]), torch.cat([a, b.long()], 1)),
                X, randn(2, 2, 4), dynamic=[[0], [0]], more=[(randn(3, 3, 4), randn(3, 2, 4))]),
    "cat_empty": Case(lambda a: torch.cat([torch.zeros(0), a]), randn(4)),
    "repeat": Case(lambda x: (x.repeat(2, 1, 3), x.repeat(2, 1, 1, 1), x.tile((2,)), x.repeat_interleave(3, 1), x.repeat_interleave(2), torch.tile(x, (2, 1, 1))), X, dynamic=[[0]]),
    "repeat_interleave_tensor": Case(lambda x, r: torch.repeat_interleave(x, r, dim=0, output_size=6), randn(3, 2), torch.tensor([1, 2, 3]), forms=("raw",)),
    "flip": Case(lambda x: (x.flip(0), x.flip((1, 2)), torch.fliplr(x), torch.flipud(x), x.rot90(1, (1, 2)), x.rot90(2, (0, 1)), x.rot90(3, (0, 2))), X),
    "roll": Case(lambda x: (x.roll(1, 0), x.roll((1, -2), (1, 2)), x.roll(3)), X, dynamic=[[0, 1]], more=[(randn(4, 5, 4),)]),
    "diagonal": Case(lambda x: (x.diagonal(0, 1, 2), x.diagonal(1, 1, 2), x.diagonal(-1, 2, 1), x.diagonal(), torch.diag_embed(x), torch.diag(x[0, 0]), torch.diag(x[0])), X),
    "tril": Case(lambda x: (x.tril(), x.triu(1), x.tril(-1), torch.tril(x[0], 2)), X, dynamic=[[0, 1]]),
    "tril_indices": Case(lambda x: (torch.tril_indices(3, 4, 1), torch.triu_indices(4, 3, -1), x), X),
    "unfold": Case(lambda x: (x.unfold(1, 2, 1), x.unfold(2, 3, 1), x.unfold(0, 1, 1)), randn(2, 5, 4), dynamic=[[1]], more=[(randn(2, 8, 4),)]),
    "as_strided": Case(lambda x: torch.as_strided(x, (2, 3), (1, 4), 1), randn(12)),
    "meshgrid": Case(lambda a, b: (*torch.meshgrid(a, b, indexing="ij"), *torch.meshgrid(a, b, indexing="xy"), *torch.broadcast_tensors(a[:, None], b)), randn(3), randn(4)),
    "pixel_shuffle": Case(lambda x: (torch.pixel_shuffle(x, 2), torch.pixel_unshuffle(torch.pixel_shuffle(x, 2), 2), torch.channel_shuffle(x, 2)), randn(2, 8, 3, 3), forms=("raw", "core")),
    "atleast": Case(lambda x: (torch.atleast_1d(x), torch.atleast_2d(x), torch.atleast_3d(x)), randn(4)),
    "full": Case(lambda x: (torch.full((2, 3), 1.5), torch.full_like(x, 2), torch.zeros(3), torch.ones_like(x, dtype=torch.int64), x.new_zeros(2), x.new_full((2,), 3), x.new_ones((2, 2)),
                            torch.full((x.shape[0],), True), torch.full((2,), 7), torch.empty_like(x).fill_(3), x.new_tensor([1, 2])), X, dynamic=[[0]], more=[(randn(5, 3, 4),)]),
    "arange": Case(lambda x: (torch.arange(5), torch.arange(1, 9, 2), torch.arange(0, 1, 0.25), torch.arange(x.shape[0]), torch.arange(3, dtype=torch.float32), torch.arange(5, 0, -1),
                              torch.arange(x.shape[1], x.shape[1] * 3, 2)), X, dynamic=[[0, 1]], more=[(randn(4, 5, 4),)]),
    "linspace": Case(lambda x: (torch.linspace(-1, 1, 7), torch.linspace(0, 5, 1), torch.eye(3), torch.eye(2, 4), x), X),
    "one_hot": Case(lambda x: torch.nn.functional.one_hot(x, 5), ints(2, 3, low=0, high=5)),
    "windows": Case(lambda x: (torch.hann_window(8), torch.hann_window(8, periodic=False), torch.blackman_window(6), x), X),
    "numbers": Case(lambda x: (x.shape[0] * 2, x.shape[1] // 2, x.sum(), max(x.shape[0], 3), x.numel()), X, dynamic=[[0, 1]], more=[(randn(6, 7, 4),)]),
    "same_output_twice": Case(lambda x: (x, x, x + 1), X),
    "pytrees": Case(lambda t: {"a": t["x"] + t["y"][0], "b": [t["y"][1], (t["x"],)]}, {"x": randn(2), "y": [randn(2), randn(3)]}),
    "constants": Case(lambda x: (x + torch.tensor([1.0, 2.0]), torch.tensor([[1, 2], [3, 4]]), x.new_tensor(3.0)), randn(2)),
}
add_cases(Shape, TABLE)


def write_slice(x):
    y = x.clone()
    y[:, 1:2] = 7
    y[0] += 1
    y[..., ::2] *= 2
    y[-1, -1] = x[0, 0]
    return y


def write_views(x):
    y = x * 1
    flat, turned = y.view(-1), y.transpose(0, 2)
    flat[3:9] = 0.5
    turned[1].add_(10)
    y.select(1, 0).mul_(2)
    part = y[:, 1:]
    part.relu_()
    part.unsqueeze(0).neg_()
    return y, flat, turned, part, turned.sum()


def write_masks(x, m):
    y = x.clone()
    y[m] = 0
    y.masked_fill_(x > 1, 3)
    y[:, [0, 2]] = -1
    y[[0, 1], [1, 2]] += 5
    y[m.any(-1)] = 2
    return y


def write_diagonal(x):
    y = x.clone()
    y.diagonal().fill_(9)
    y.unfold(1, 2, 2)[:, 0].zero_()
    for part in y.split(1):
        part.add_(1)
    y.t()[0].copy_(torch.arange(4.0))
    return y


def write_all(x):
    y = torch.zeros_like(x)
    y.copy_(x)
    y.add_(1).mul_(2).sub_(0.5).div_(3).clamp_(-1, 1).tanh_().sqrt_().nan_to_num_()
    z = torch.empty(2, 3, 4)
    z.fill_(1)
    z[0].copy_(x[1])
    z.add_(y)
    return y, z


def write_scatter(x):
    y = x.clone()
    y.scatter_(1, torch.tensor([[0, 1, 2]]), 1.0)
    y.index_fill_(0, torch.tensor([1]), 4.0)
    y.index_add_(1, torch.tensor([0, 2]), torch.ones(3, 2))
    y.index_copy_(0, torch.tensor([2]), torch.ones(1, 4))
    return y


def write_input(x):
    x.add_(1)
    return x * 2


add_cases(Shape, {
    "write_slice": Case(write_slice, X, dynamic=[[0]], more=[(randn(5, 3, 4),)]),
    "write_views": Case(write_views, X),
    "write_masks": Case(write_masks, randn(3, 4), bools(3, 4)),
    "write_diagonal": Case(write_diagonal, randn(4, 4)),
    "write_all": Case(write_all, X),
    "write_scatter": Case(write_scatter, randn(3, 4)),
    "write_input": Case(write_input, X, forms=("raw",)),
})
