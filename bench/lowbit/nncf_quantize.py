"""Quantizes a model with nncf for openvino. Runs in an environment of its own, because nncf pins other versions.

usage: nncf_quantize.py MODEL.onnx SAMPLES.npz TARGET.xml text|image
"""

import sys

import numpy as np


def main():
    import nncf
    import openvino

    source, samples, target, kind = sys.argv[1:]
    model = openvino.Core().read_model(source)
    with np.load(samples) as stored:
        arrays = {name: stored[name] for name in stored.files}
    count = len(next(iter(arrays.values())))
    model.reshape({name: [1, *array.shape[1:]] for name, array in arrays.items()})
    data = nncf.Dataset([{name: array[i:i + 1] for name, array in arrays.items()} for i in range(count)])
    options = {"model_type": nncf.ModelType.TRANSFORMER} if kind == "text" else {}
    openvino.save_model(nncf.quantize(model, data, subset_size=count, preset=nncf.QuantizationPreset.MIXED, **options), target)


if __name__ == "__main__":
    main()
