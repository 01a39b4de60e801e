"""Sets random weights. They are scaled so that the outputs of all layers stay finite and of moderate size."""

import torch

NORMS = (torch.nn.modules.batchnorm._BatchNorm, torch.nn.LayerNorm, torch.nn.GroupNorm)


def _randomize_parameters(model, gain, noise):
    norms = {id(p) for m in model.modules() if isinstance(m, NORMS) for p in m.parameters()}
    for parameter in model.parameters():
        if id(parameter) in norms or parameter.dim() < 2:
            parameter.add_(0.1 * noise(parameter))
        else:
            parameter.copy_(noise(parameter) * (gain / parameter[0].numel()) ** 0.5)


def _set_statistics(model, inputs):
    """Sets the statistics of each BatchNorm from one batch, so that values neither explode nor vanish."""
    norms = [m for m in model.modules() if isinstance(m, NORMS[0])]
    if not norms:
        return
    for module in norms:
        module.train()
        module.momentum = None  # cumulative average
        module.reset_running_stats()
    model(*inputs)
    model.eval()


@torch.no_grad()
def randomize(model, gain, inputs, seed=1):
    generator = torch.Generator().manual_seed(seed)

    def noise(like):
        return torch.randn(like.shape, generator=generator)

    model.eval()
    _randomize_parameters(model, gain, noise)
    _set_statistics(model, inputs)
