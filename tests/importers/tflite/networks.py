"""Keras networks with random weights, converted to TensorFlow Lite in four ways. The files are kept in build/importers-tflite/networks."""

import os
import pathlib
import sys

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
CACHE = pathlib.Path(sys.prefix) / "networks"
MODES = ("float", "float16", "dynamic", "int8")


def application(name, size, **more):
    def make(keras):
        return getattr(keras.applications, name)(weights=None, input_shape=(size, size, 3), classes=10, classifier_activation=None, **more)
    return make


def unet(keras):
    layers = keras.layers
    x = inputs = keras.Input((32, 32, 3))
    skips = []
    for filters in (8, 16):
        x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = layers.MaxPool2D()(x)
    x = layers.Conv2D(32, 3, padding="same", dilation_rate=2, activation="relu")(x)
    for filters, skip in zip((16, 8), reversed(skips)):
        x = layers.Conv2DTranspose(filters, 3, strides=2, padding="same")(x)
        x = layers.Concatenate()([x, skip])
        x = layers.LeakyReLU(0.1)(x)
        x = layers.Conv2D(filters, 3, padding="same", activation="relu6")(x)
    x = layers.UpSampling2D(interpolation="bilinear")(x)
    return keras.Model(inputs, layers.Conv2D(4, 1, activation="softmax")(x))


def transformer(keras):
    layers = keras.layers
    x = inputs = keras.Input((12, 16))
    for _ in range(2):
        y = layers.MultiHeadAttention(2, 8)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, y]))
        y = layers.Dense(16)(layers.Dense(32, activation="gelu")(x))
        x = layers.LayerNormalization()(layers.Add()([x, y]))
    return keras.Model(inputs, layers.Dense(5)(layers.GlobalAveragePooling1D()(x)))


def recurrent(keras):
    layers = keras.layers
    x = inputs = keras.Input((10, 8), batch_size=1)
    x = layers.LSTM(12, return_sequences=True, unroll=True)(x)
    x = layers.GRU(12, return_sequences=True, unroll=True)(x)
    return keras.Model(inputs, layers.Dense(5, activation="softmax")(layers.Flatten()(x)))


def audio(keras):
    layers = keras.layers
    x = inputs = keras.Input((200, 4))
    for filters in (8, 16):
        x = layers.Conv1D(filters, 5, strides=2, padding="same")(x)
        x = layers.BatchNormalization()(x)
        x = layers.ReLU()(x)
        x = layers.SeparableConv1D(filters, 3, padding="same", activation="swish")(x)
    return keras.Model(inputs, layers.Dense(6, activation="sigmoid")(layers.GlobalMaxPooling1D()(x)))


NETWORKS = {
    "mobilenet": application("MobileNet", 64),
    "mobilenet_v2": application("MobileNetV2", 64),
    "mobilenet_v3": application("MobileNetV3Small", 64),
    "efficientnet_b0": application("EfficientNetB0", 64),
    "resnet50": application("ResNet50", 64),
    "densenet121": application("DenseNet121", 64),
    "inception_v3": application("InceptionV3", 96),
    "xception": application("Xception", 80),
    "vgg16": application("VGG16", 32),
    "nasnet": application("NASNetMobile", 64),
    "convnext": application("ConvNeXtTiny", 64),
    "unet": unet,
    "transformer": transformer,
    "recurrent": recurrent,
    "audio": audio,
}


def settle(model, samples):
    """Sets the statistics of batch normalizations to those of the samples, so that random weights do not let the signal vanish."""
    for layer in model.layers:
        if hasattr(layer, "moving_mean"):
            layer.momentum = 0.0
    model(samples, training=True)


def convert(keras_model, mode, samples):
    import tensorflow as tf
    converter = tf.lite.TFLiteConverter.from_keras_model(keras_model)
    if mode != "float":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if mode == "float16":
        converter.target_spec.supported_types = [tf.float16]
    if mode == "int8":
        converter.representative_dataset = lambda: ([s[None]] for s in samples)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


def path_of(name, mode):
    """The file of a network, which is made if it does not exist. None if TensorFlow cannot convert it."""
    path = CACHE / f"{name}-{mode}.tflite"
    if not path.exists():
        import keras
        CACHE.mkdir(exist_ok=True)
        keras.utils.set_random_seed(1)
        model = NETWORKS[name](keras)
        samples = np.random.default_rng(0).standard_normal((8, *model.input_shape[1:])).astype("float32")
        settle(model, samples)
        for each in MODES:
            target = CACHE / f"{name}-{each}.tflite"
            if not target.exists():
                target.write_bytes(convert(model, each, samples))
    return path


if __name__ == "__main__":
    for network in sys.argv[1:] or NETWORKS:
        try:
            print(path_of(network, "int8"), flush=True)
        except Exception as e:  # the converter raises many kinds
            print(network, type(e).__name__, str(e)[:300], flush=True)
