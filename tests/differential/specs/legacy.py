"""Operators that ONNX removed but onnxruntime still supports in the default domain."""

from fuzz.registry import op


@op("Affine", since=(1,), last=9, weight=0.5)
def affine(d):
    return d.case([d.tensor("float", d.shape())], {"alpha": d.maybe(d.uniform(-2, 2)), "beta": d.maybe(d.uniform(-2, 2))})


@op("ParametricSoftplus", since=(1,), last=9, weight=0.5)
def parametric_softplus(d):
    return d.case([d.tensor("float", d.shape())], {"alpha": d.uniform(0.1, 2), "beta": d.uniform(0.1, 2)})


@op("ScaledTanh", since=(1,), last=9, weight=0.5)
def scaled_tanh(d):
    return d.case([d.tensor("float", d.shape())], {"alpha": d.uniform(0.1, 2), "beta": d.uniform(0.1, 2)})


@op("Scale", since=(1,), last=9, weight=0.5)
def scale(d):
    return d.case([d.tensor("float", d.shape())], {"scale": d.maybe(d.uniform(-2, 2))})


@op("ImageScaler", since=(1,), last=9, weight=0.5)
def image_scaler(d):
    channels = d.int(1, 4)
    attrs = {"bias": [d.uniform(-1, 1) for _ in range(channels)], "scale": d.maybe(d.uniform(-2, 2))}
    return d.case([d.tensor("float", [d.int(1, 2), channels, d.int(1, 5), d.int(1, 5)])], attrs)


@op("Crop", since=(1,), last=9, weight=0.5)
def crop(d):
    border = [d.int(0, 1) for _ in range(4)]
    x = d.tensor("float", [d.int(1, 2), d.int(1, 3), d.int(4, 7), d.int(4, 7)])
    scale = d.maybe([d.int(1, 2), d.int(1, 2)])
    return d.case([x], {"border": border, "scale": scale})
