"""Builds a family's network with random weights, and its inputs."""

import torch
import transformers

ATTENTION = ("sdpa", "eager")


class Network(torch.nn.Module):
    """Wraps a model of transformers. Its inputs are positional tensors and its result is a tuple of float tensors, so
    that both exporters see the same signature."""

    def __init__(self, family, model):
        super().__init__()
        self.family, self.model = family, model
        self.names = [i.name for i in family.inputs]
        self.output_names = list(family.outputs)

    def forward(self, *tensors):
        target = self.model if self.family.method == "forward" else getattr(self.model, self.family.method)
        result = target(**dict(zip(self.names, tensors)), **self.family.call, return_dict=True)
        if not self.output_names:
            self.output_names = [k for k, v in result.items() if torch.is_tensor(v) and v.is_floating_point()]
        return tuple(result[name] for name in self.output_names)


def _randomize(model):
    """Sets random weights that are larger than the default weights. With the default weights, attention is nearly
    uniform and hides errors."""
    generator = torch.Generator().manual_seed(1)
    noise = lambda t: torch.randn(t.shape, generator=generator)
    for parameter in model.parameters():
        if parameter.dim() >= 2:
            parameter.copy_(noise(parameter) * (parameter[0].numel() ** -0.5))
        else:
            parameter.add_(0.1 * noise(parameter))
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean.copy_(0.1 * noise(module.running_mean))
            module.running_var.copy_(0.5 + torch.rand(module.running_var.shape, generator=generator))


@torch.no_grad()
def build(family, attention="sdpa"):
    torch.manual_seed(0)
    model_class = getattr(transformers, family.model)
    config = model_class.config_class(**family.config)
    try:
        model = model_class._from_config(config, attn_implementation=attention)
    except ValueError:  # this network does not support scaled_dot_product_attention ("sdpa")
        model = model_class._from_config(config, attn_implementation="eager")
    model = model.float().eval()
    _randomize(model)
    network = Network(family, model).eval()
    network(*inputs(family, 0))  # determines the output names
    return network


def _tensor(spec, shape, generator):
    if spec.kind == "ids":
        return torch.randint(3, spec.high, shape, generator=generator)
    if spec.kind == "mask":  # row r is padded with r zeros on the right
        rows, columns = shape
        return (torch.arange(columns)[None] < columns - torch.arange(rows)[:, None]).long()
    if spec.kind == "boxes":  # left, top, right, bottom
        corners = torch.randint(0, spec.high, (*shape[:-1], 2, 2), generator=generator)
        return corners.sort(dim=-2).values.flatten(-2)
    if spec.kind == "uniform":
        return torch.rand(shape, generator=generator)
    values = torch.randn(shape, generator=generator)
    if spec.kind == "positions":  # the first two elements of the last axis are the row and column of a patch
        values[..., :2] = torch.randint(1, 8, (*shape[:-1], 2), generator=generator).float()
    return values


def inputs(family, data_set):
    generator = torch.Generator().manual_seed(100 + data_set)
    shape = lambda spec: tuple(family.size(d, data_set) for d in spec.dims)
    return tuple(_tensor(spec, shape(spec), generator) for spec in family.inputs)
