"""Quantizes a model with onnxruntime's own tool: statically to QDQ with u8 activations and s8 weights per channel, or, for text
models, dynamically, which is what its documentation recommends for them."""

import pathlib
import tempfile

from lowbit import calibration


def quantize(entry, source, target):
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        prepared = pathlib.Path(folder) / "prepared.onnx"
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=calibration.is_text(entry))
        if calibration.is_text(entry):
            quantization.quantize_dynamic(str(prepared), str(target), weight_type=quantization.QuantType.QInt8, per_channel=True)
            return
        quantization.quantize_static(str(prepared), str(target), Samples(entry), quant_format=quantization.QuantFormat.QDQ, per_channel=True,
                                     activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8)


class Samples:
    """onnxruntime's CalibrationDataReader."""

    def __init__(self, entry):
        self.left = calibration.samples(entry)

    def get_next(self):
        return next(self.left, None)
