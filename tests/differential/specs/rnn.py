"""Recurrent layers."""

from fuzz.registry import op

# The activations of onnxruntime. The pair says whether an activation has an alpha and whether it has a beta.
ACTIVATIONS = {"Sigmoid": (0, 0), "Tanh": (0, 0), "Relu": (0, 0), "HardSigmoid": (1, 1), "LeakyRelu": (1, 0),
               "Elu": (1, 0), "Softsign": (0, 0), "Softplus": (0, 0), "ScaledTanh": (1, 1), "Affine": (1, 1),
               "ThresholdedRelu": (1, 0)}


def activations(d, count):
    """Returns attributes with the names of `count` activations and their alphas and betas. Sigmoid and Tanh are drawn
    more often than the others."""
    names = [d.choice(list(ACTIVATIONS)) if d.chance(0.5) else d.choice(["Sigmoid", "Tanh"]) for _ in range(count)]
    # The lists of alphas and betas have an entry only for activations that use the parameter.
    alphas, betas = ([d.uniform(0.1, 0.9) for n in names if ACTIVATIONS[n][i]] for i in (0, 1))
    return {"activations": names, "activation_alpha": alphas or None, "activation_beta": betas or None}


def common(d, gates, dtype):
    """Returns the attributes and inputs that all recurrent operators have."""
    direction = d.choice(["forward", "reverse", "bidirectional"])
    ways = 2 if direction == "bidirectional" else 1
    steps, batch, size, hidden = d.int(1, 5), d.int(1, 3), d.size(4), d.size(5)
    attrs = {"hidden_size": hidden, "direction": direction if direction != "forward" or d.chance(0.5) else None,
             "clip": d.maybe(d.uniform(0.3, 5), 0.2)}
    layout = 0
    if d.since >= 14 and d.chance(0.05):  # onnxruntime refuses layout 1
        layout = attrs["layout"] = 1
    x = d.tensor(dtype, [batch, steps, size] if layout else [steps, batch, size])
    w = d.tensor(dtype, [ways, gates * hidden, size], spread=0.5)
    r = d.tensor(dtype, [ways, gates * hidden, hidden], spread=0.5)
    b = d.maybe(d.tensor(dtype, [ways, 2 * gates * hidden], spread=0.5))
    lengths = d.maybe(d.tensor("int32", [batch], low=1, high=steps), 0.3)
    first = [batch, ways, hidden] if layout else [ways, batch, hidden]
    return attrs, [x, w, r, b, lengths], first, ways, hidden


def some_outputs(d, count):
    """Returns a random non-empty set of outputs to request."""
    wanted = [i if d.chance(0.6) else None for i in range(count)]
    return wanted if any(w is not None for w in wanted) else list(range(count))


@op("RNN", weight=2, since=(7, 14, 22))
def rnn(d):
    dtype = d.dtype("T", without=("double",))
    attrs, inputs, first, ways, _ = common(d, 1, dtype)
    if d.chance(0.5):
        attrs |= activations(d, ways)
    inputs.append(d.maybe(d.tensor(dtype, first), 0.5))
    return d.case(inputs, attrs, outputs=some_outputs(d, 2), const=0.4, scale=10)


@op("GRU", weight=2, since=(7, 14, 22))
def gru(d):
    dtype = d.dtype("T", without=("double",))
    attrs, inputs, first, ways, _ = common(d, 3, dtype)
    if d.chance(0.5):
        attrs |= activations(d, 2 * ways)
    attrs["linear_before_reset"] = d.maybe(d.int(0, 1))
    inputs.append(d.maybe(d.tensor(dtype, first), 0.5))
    return d.case(inputs, attrs, outputs=some_outputs(d, 2), const=0.4, scale=10)


@op("LSTM", weight=3, since=(7, 14, 22))
def lstm(d):
    dtype = d.dtype("T", without=("double",))
    attrs, inputs, first, ways, hidden = common(d, 4, dtype)
    if d.chance(0.5):
        attrs |= activations(d, 3 * ways)
    attrs["input_forget"] = d.maybe(d.int(0, 1), 0.3)
    inputs.append(d.maybe(d.tensor(dtype, first), 0.5))
    inputs.append(d.maybe(d.tensor(dtype, first), 0.5))
    inputs.append(d.maybe(d.tensor(dtype, [ways, 3 * hidden], spread=0.5), 0.3))
    return d.case(inputs, attrs, outputs=some_outputs(d, 3), const=0.4, scale=10)
