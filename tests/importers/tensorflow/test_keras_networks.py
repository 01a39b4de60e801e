"""The networks of keras.applications with random weights, exported with model.export."""

import gc
import unittest

import numpy as np
from keras_models import compare, keras, randomise

# Network → side of the input in pixels.
SIDES = {"MobileNet": 64, "MobileNetV2": 64, "MobileNetV3Small": 64, "MobileNetV3Large": 64, "ResNet50": 64, "ResNet101": 40, "ResNet50V2": 64, "ResNet101V2": 40,
         "DenseNet121": 40, "DenseNet169": 40, "InceptionV3": 75, "InceptionResNetV2": 75, "Xception": 71, "VGG16": 32, "VGG19": 32, "EfficientNetB0": 48,
         "EfficientNetB1": 40, "EfficientNetB2": 40, "EfficientNetV2B0": 48, "EfficientNetV2B1": 40, "EfficientNetV2S": 40, "NASNetMobile": 64,
         "ConvNeXtTiny": 64, "ConvNeXtSmall": 32}


class Networks(unittest.TestCase):
    def check(self, name, side):
        keras.utils.set_random_seed(1)
        model = getattr(keras.applications, name)(weights=None, input_shape=(side, side, 3), classes=10, classifier_activation=None)
        randomise(model)
        x = np.random.default_rng(3).uniform(0, 255 if "Efficient" in name or "V3" in name else 1, (2, side, side, 3)).astype(np.float32)
        compare(self, model, [x])
        keras.backend.clear_session()
        gc.collect()


for name, side in SIDES.items():
    setattr(Networks, f"test_{name}", lambda self, name=name, side=side: self.check(name, side))
