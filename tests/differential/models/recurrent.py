"""RNN, GRU and LSTM, step by step."""

import numpy as np

from . import arguments, model, wanted

# name: (function of x, alpha and beta; default alpha; default beta). If a function does not use alpha or beta, the
# default of that parameter is None.
ACTIVATIONS = {
    "Sigmoid": (lambda x, a, b: 1 / (1 + np.exp(-x)), None, None),
    "Tanh": (lambda x, a, b: np.tanh(x), None, None),
    "Relu": (lambda x, a, b: np.maximum(x, 0), None, None),
    "Softsign": (lambda x, a, b: x / (1 + np.abs(x)), None, None),
    "Softplus": (lambda x, a, b: np.log1p(np.exp(x)), None, None),
    "HardSigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "LeakyRelu": (lambda x, a, b: np.where(x < 0, a * x, x), 0.01, None),
    "Elu": (lambda x, a, b: np.where(x < 0, a * (np.exp(x) - 1), x), 1.0, None),
    "ThresholdedRelu": (lambda x, a, b: np.where(x > a, x, 0), 1.0, None),
    "ScaledTanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "Affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
}
DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def activations(case, ways):
    """Returns the activation functions of each direction. A function consumes an entry of activation_alpha or
    activation_beta only if it uses that parameter."""
    names = case.attrs.get("activations") or DEFAULTS[case.op.name] * ways
    alphas, betas = (iter(case.attrs.get(f"activation_{k}") or []) for k in ("alpha", "beta"))
    functions = []
    for name in names:
        function, alpha, beta = ACTIVATIONS[name]
        alpha = None if alpha is None else next(alphas, alpha)
        beta = None if beta is None else next(betas, beta)
        functions.append(lambda x, f=function, a=alpha, b=beta: f(x, a, b))
    size = len(names) // ways
    return [functions[d * size:(d + 1) * size] for d in range(ways)]


def rnn_step(case, x, h, c, w, r, wb, rb, _, act, clip):
    return act[0](clip(w @ x + r @ h + wb + rb)), c


def gru_step(case, x, h, c, w, r, wb, rb, _, act, clip):
    n = len(h)
    from_x, bias = w @ x + wb, rb
    z = act[0](clip(from_x[:n] + r[:n] @ h + bias[:n]))
    reset = act[0](clip(from_x[n:2 * n] + r[n:2 * n] @ h + bias[n:2 * n]))
    if case.attrs.get("linear_before_reset"):
        from_h = reset * (r[2 * n:] @ h + bias[2 * n:])
    else:
        from_h = r[2 * n:] @ (reset * h) + bias[2 * n:]
    return (1 - z) * act[1](clip(from_x[2 * n:] + from_h)) + z * h, c


def lstm_step(case, x, h, c, w, r, wb, rb, peep, act, clip):
    n = len(h)
    i, o, f, g = np.split(w @ x + r @ h + wb + rb, 4)
    peep = np.zeros(3 * n) if peep is None else peep
    i = act[0](clip(i + peep[:n] * c))
    f = 1 - i if case.attrs.get("input_forget") else act[0](clip(f + peep[2 * n:] * c))
    c = f * c + i * act[1](clip(g))
    return act[0](clip(o + peep[n:2 * n] * c)) * act[2](c), c


STEPS = {"RNN": rnn_step, "GRU": gru_step, "LSTM": lstm_step}


@model("RNN", "GRU", "LSTM")
def recurrent(case):
    if case.attrs.get("layout"):
        return None
    as_double = lambda a: None if a is None else a.astype(np.float64)  # noqa: E731
    x, w, r, bias, lengths, h0, c0, peep = arguments(case, 8)
    x, w, r, bias, h0, c0, peep = map(as_double, (x, w, r, bias, h0, c0, peep))
    ways, hidden, (steps, batch, _) = w.shape[0], r.shape[2], x.shape
    limit = case.attrs.get("clip")
    clip = (lambda v: np.clip(v, -limit, limit)) if limit else (lambda v: v)
    ys, last_h, last_c = np.zeros((steps, ways, batch, hidden)), np.zeros((ways, batch, hidden)), np.zeros((ways, batch, hidden))
    zeros = np.zeros(w.shape[1])
    for d, act in enumerate(activations(case, ways)):
        wb, rb = (zeros, zeros) if bias is None else np.split(bias[d], 2)
        backwards = case.attrs.get("direction") == "reverse" or d == 1
        for b in range(batch):
            h, c = (np.zeros(hidden) if s is None else s[d, b] for s in (h0, c0))
            order = range(steps if lengths is None else int(lengths[b]))
            for t in reversed(order) if backwards else order:
                h, c = STEPS[case.op.name](case, x[t, b], h, c, w[d], r[d], wb, rb, None if peep is None else peep[d], act, clip)
                ys[t, d, b] = h
            last_h[d, b], last_c[d, b] = h, c
    return wanted(case, [v.astype(case.args[0].dtype) for v in (ys, last_h, last_c)])
