"""Operators on images, detections, complex numbers and quantized numbers, one test per operator."""

import numpy as np
import tensorflow as tf
from op_cases import C, OpTest, X, add_tests, f, i

I32 = np.int32
IMAGE = X(f(2, 6, 7, 3, low=0))


def size(*values):
    return C(np.array(values, I32))


def boxes(count):
    corner = f(count, 2, low=0, high=0.7)
    return np.concatenate([corner, corner + f(count, 2, low=0.1, high=0.3)], 1)


def z(*dims):
    return (f(*dims) + 1j * f(*dims)).astype(np.complex64)


RESIZE = [{"images": IMAGE, "size": size(*s), "align_corners": a, "half_pixel_centers": h} for s in ((9, 11), (4, 3)) for a, h in ((False, False), (True, False), (False, True))]
OPS = {op: RESIZE for op in ("ResizeBilinear", "ResizeNearestNeighbor")}
OPS["ResizeBicubic"] = [case | {"_rtol": 5e-3, "_atol": 2e-3} for case in RESIZE]
OPS["ResizeArea"] = [{"images": IMAGE, "size": size(*s), "_static": True} for s in ((3, 7), (4, 5), (9, 11))]
OPS |= {
    "CropAndResize": [{"image": IMAGE, "boxes": X(boxes(4)), "box_ind": X(np.array([0, 1, 1, 0], I32)), "crop_size": size(*s)} for s in ((4, 5), (1, 1))] +
                     [{"image": IMAGE, "boxes": X(np.array([[-0.2, 0.1, 1.3, 0.9], [0.9, 0.8, 0.1, 0.2]], np.float32)), "box_ind": X(np.array([0, 1], I32)), "crop_size": size(5, 3), "extrapolation_value": 0.5}],
    "AdjustContrastv2": [{"images": IMAGE, "contrast_factor": C(np.float32(1.7))}],
    "AdjustSaturation": [{"images": IMAGE, "scale": C(np.float32(0.6))}],
    "AdjustHue": [{"images": IMAGE, "delta": C(np.float32(0.3))}],
    "RGBToHSV": [{"images": IMAGE}],
    "HSVToRGB": [{"images": IMAGE}],
    "ExtractImagePatches": [{"images": IMAGE, "ksizes": [1, 3, 2, 1], "strides": [1, 2, 1, 1], "rates": [1, 1, 2, 1], "padding": "VALID"},
                            {"images": IMAGE, "ksizes": [1, 3, 3, 1], "strides": [1, 2, 2, 1], "rates": [1, 1, 1, 1], "padding": "SAME", "_static": True}],
}
BOXES, SCORES = X(boxes(20)), X(f(20, low=0))
IOU, SCORE = C(np.float32(0.3)), C(np.float32(0.25))
NMS = {"boxes": BOXES, "scores": SCORES, "max_output_size": C(I32(7))}
OPS |= {
    "NonMaxSuppression": [NMS | {"iou_threshold": 0.3}],
    "NonMaxSuppressionV2": [NMS | {"iou_threshold": IOU}],
    "NonMaxSuppressionV3": [NMS | {"iou_threshold": IOU, "score_threshold": SCORE}],
    "NonMaxSuppressionV4": [NMS | {"iou_threshold": IOU, "score_threshold": SCORE, "pad_to_max_output_size": p} for p in (False, True)] +
                           [NMS | {"max_output_size": C(I32(18)), "iou_threshold": IOU, "score_threshold": SCORE, "pad_to_max_output_size": True}],
    "NonMaxSuppressionV5": [NMS | {"iou_threshold": IOU, "score_threshold": SCORE, "soft_nms_sigma": C(np.float32(0)), "pad_to_max_output_size": p} for p in (False, True)],
    "CombinedNonMaxSuppression": [{"boxes": X(np.stack([boxes(12), boxes(12)])[:, :, None]), "scores": X(f(2, 12, 3, low=0)), "max_output_size_per_class": C(I32(4)), "max_total_size": C(I32(t)),
                                   "iou_threshold": IOU, "score_threshold": SCORE, "pad_per_class": p} for t, p in ((6, False), (50, False), (50, True))] +
                                 [{"boxes": X(np.stack([boxes(24).reshape(12, 2, 4)])), "scores": X(f(1, 12, 2, low=0)), "max_output_size_per_class": C(I32(4)), "max_total_size": C(I32(5)),
                                   "iou_threshold": IOU, "score_threshold": SCORE}],
}
Z = z(2, 3, 4)
OPS |= {
    "Complex": [{"real": X(f(2, 3)), "imag": X(f(2, 3))}],
    "Real": [{"input": X(Z)}], "Imag": [{"input": X(Z)}], "Conj": [{"input": X(Z)}], "ComplexAbs": [{"x": X(Z)}],
    "Angle": [{"input": X(Z)}],
    "FFT": [{"input": X(Z)}], "IFFT": [{"input": X(Z)}], "FFT2D": [{"input": X(Z)}], "IFFT2D": [{"input": X(Z)}], "FFT3D": [{"input": X(Z)}], "IFFT3D": [{"input": X(Z)}],
    "RFFT": [{"input": X(f(2, 8)), "fft_length": size(n)} for n in (8, 5)],
    "RFFT2D": [{"input": X(f(2, 4, 8)), "fft_length": size(4, 8)}, {"input": X(f(4, 8)), "fft_length": size(3, 6)}],
    "RFFT3D": [{"input": X(f(2, 4, 8)), "fft_length": size(2, 4, 8)}],
    "IRFFT": [{"input": X(z(2, 5)), "fft_length": size(n), "_atol": 1e-4} for n in (8, 9, 6)],
    "IRFFT2D": [{"input": X(np.fft.rfft2(f(2, 4, 8)).astype(np.complex64)), "fft_length": size(4, 8)}],
    "IRFFT3D": [{"input": X(np.fft.rfftn(f(2, 4, 8)).astype(np.complex64)), "fft_length": size(2, 4, 8)}],
}
RANGE = {"min": C(np.float32(-0.7)), "max": C(np.float32(1.1))}
OPS |= {
    "FakeQuantWithMinMaxArgs": [{"inputs": X(f(3, 4, high=2)), "min": -0.7, "max": 1.1, "num_bits": n, "narrow_range": r} for n, r in ((8, False), (4, True))],
    "FakeQuantWithMinMaxVars": [{"inputs": X(f(3, 4, high=2)), **RANGE, "num_bits": n, "narrow_range": r} for n, r in ((8, False), (4, True))],
    "FakeQuantWithMinMaxVarsPerChannel": [{"inputs": X(f(3, 4, high=2)), "min": C(f(4, low=-2, high=-0.5)), "max": C(f(4, low=0.5, high=2))}],
    "QuantizeAndDequantizeV2": [{"input": X(f(3, 4)), "input_min": C(np.float32(-0.6)), "input_max": C(np.float32(0.9)), "range_given": g, "signed_input": s}
                                for g, s in ((True, True), (False, True))] + [{"input": X(f(3, 4, low=0)), "input_min": C(np.float32(0)), "input_max": C(np.float32(0.9)), "range_given": True, "signed_input": False, "num_bits": 4}],
    "QuantizeAndDequantizeV3": [{"input": X(f(3, 4)), "input_min": C(np.float32(-0.6)), "input_max": C(np.float32(0.9)), "num_bits": C(I32(6)), "narrow_range": r} for r in (False, True)],
    "QuantizeAndDequantizeV4": [{"input": X(f(3, 4)), "input_min": C(np.float32(-0.6)), "input_max": C(np.float32(0.9)), "round_mode": m} for m in ("HALF_TO_EVEN", "HALF_UP")],
}
OPS["Dequantize"] = [{"x": X(i(3, 4, low=low, high=high, dtype=kind)), "_call": lambda x, m=mode, t=to: tf.raw_ops.Dequantize(
    input=tf.bitcast(x, t), min_range=-0.7, max_range=1.3, mode=m), "_atol": 1e-4}
    for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED") for low, high, kind, to in ((0, 256, np.uint8, tf.quint8), (-128, 128, np.int8, tf.qint8))]


class Images(OpTest):
    pass


add_tests(Images, OPS)
