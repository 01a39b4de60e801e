"""Well-known networks with random weights, as their authors' .prototxt files describe them."""

import math

import numpy as np
from caffe_net import Net


class Chain(Net):
    """A network that knows the dims (channels, height, width) of its blobs."""

    def data(self, channels, height, width):
        self.input("data", (1, channels, height, width))
        self.shape["data"] = (channels, height, width)
        return "data"

    def conv(self, x, name, outputs, kernel, stride=1, pad=0, group=1, bias=True, kind="Convolution"):
        channels, height, width = self.shape[x]
        blobs = [self.weights(outputs, channels // group, kernel, kernel)] + ([self.weights(outputs, scale=0.1)] if bias else [])
        self.layer(kind, x, name, f"convolution_param {{ num_output: {outputs} kernel_size: {kernel} stride: {stride} pad: {pad} group: {group} "
                                  f"bias_term: {str(bias).lower()} weight_filler {{ type: 'xavier' }} }}", blobs)
        self.shape[name] = (outputs, *((s + 2 * pad - kernel) // stride + 1 for s in (height, width)))
        return name

    def relu(self, x, kind="ReLU"):
        """In place."""
        self.layer(kind, x, f"relu_{x}", tops=[x])
        return x

    def conv_relu(self, x, name, *args, **kwargs):
        return self.relu(self.conv(x, name, *args, **kwargs))

    def pool(self, x, name, kernel=3, stride=2, pad=0, method="MAX"):
        channels, *sizes = self.shape[x]
        self.layer("Pooling", x, name, f"pooling_param {{ pool: {method} kernel_size: {kernel} stride: {stride} pad: {pad} }}")
        out = []
        for s in sizes:
            count = math.ceil((s + 2 * pad - kernel) / stride) + 1
            out.append(count - 1 if pad and (count - 1) * stride >= s + pad else count)
        self.shape[name] = (channels, *out)
        return name

    def global_pool(self, x, name):
        self.layer("Pooling", x, name, "pooling_param { pool: AVE global_pooling: true }")
        self.shape[name] = (self.shape[x][0], 1, 1)
        return name

    def dense(self, x, name, outputs):
        inputs = int(np.prod(self.shape[x]))
        self.layer("InnerProduct", x, name, f"inner_product_param {{ num_output: {outputs} }}", [self.weights(outputs, inputs), self.weights(outputs, scale=0.1)])
        self.shape[name] = (outputs,)
        return name

    def norm(self, x):
        """BatchNorm and Scale, both in place."""
        channels = self.shape[x][0]
        factor = 999.98
        mean, var = self.weights(channels, scale=0.1), self.random.uniform(0.5, 1.5, channels)
        self.layer("BatchNorm", x, f"bn_{x}", "batch_norm_param { use_global_stats: true eps: 1e-5 }", [mean * factor, var * factor, np.array([factor])], tops=[x])
        self.layer("Scale", x, f"scale_{x}", "scale_param { bias_term: true }", [self.random.uniform(0.5, 1.5, channels), self.weights(channels, scale=0.1)], tops=[x])
        return x

    def conv_norm(self, x, name, outputs, kernel, stride=1, pad=0, group=1, relu="ReLU"):
        y = self.norm(self.conv(x, name, outputs, kernel, stride, pad, group, bias=False))
        return self.relu(y, relu) if relu else y

    def concat(self, parts, name):
        self.layer("Concat", parts, name)
        self.shape[name] = (sum(self.shape[p][0] for p in parts), *self.shape[parts[0]][1:])
        return name

    def add(self, a, b, name):
        self.layer("Eltwise", [a, b], name, "eltwise_param { operation: SUM }")
        self.shape[name] = self.shape[a]
        return name

    def softmax(self, x, name="prob"):
        return self.layer("Softmax", x, name)

    def lrn(self, x, name):
        self.layer("LRN", x, name, "lrn_param { local_size: 5 alpha: 0.0001 beta: 0.75 }")
        self.shape[name] = self.shape[x]
        return name

    def dropout(self, x):
        self.layer("Dropout", x, f"drop_{x}", "dropout_param { dropout_ratio: 0.5 }", tops=[x])
        return x


def alexnet(size=227, part=8):
    """The sizes of the layers are divided by `part`, so that tests are fast."""
    n = Chain("AlexNet")
    x = n.conv_relu(n.data(3, size, size), "conv1", 96, 11, 4)
    x = n.pool(n.lrn(x, "norm1"), "pool1")
    x = n.conv_relu(x, "conv2", 256, 5, pad=2, group=2)
    x = n.pool(n.lrn(x, "norm2"), "pool2")
    x = n.conv_relu(x, "conv3", 384, 3, pad=1)
    x = n.conv_relu(x, "conv4", 384, 3, pad=1, group=2)
    x = n.pool(n.conv_relu(x, "conv5", 256, 3, pad=1, group=2), "pool5")
    for name in ("fc6", "fc7"):
        x = n.dropout(n.relu(n.dense(x, name, 4096 // part)))
    n.softmax(n.dense(x, "fc8", 1000))
    return n


def vgg16(size=224, part=8):
    n = Chain("VGG16")
    x = n.data(3, size, size)
    for block, (count, width) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)), 1):
        for i in range(1, count + 1):
            x = n.conv_relu(x, f"conv{block}_{i}", width // part, 3, pad=1)
        x = n.pool(x, f"pool{block}", 2)
    for name in ("fc6", "fc7"):
        x = n.dropout(n.relu(n.dense(x, name, 4096 // part)))
    n.softmax(n.dense(x, "fc8", 1000))
    return n


def googlenet(size=224, part=2):
    n = Chain("GoogLeNet")

    def inception(x, name, widths):
        one, reduce3, three, reduce5, five, proj = (w // part for w in widths)
        a = n.conv_relu(x, f"{name}/1x1", one, 1)
        b = n.conv_relu(n.conv_relu(x, f"{name}/3x3_reduce", reduce3, 1), f"{name}/3x3", three, 3, pad=1)
        c = n.conv_relu(n.conv_relu(x, f"{name}/5x5_reduce", reduce5, 1), f"{name}/5x5", five, 5, pad=2)
        d = n.conv_relu(n.pool(x, f"{name}/pool", 3, 1, 1), f"{name}/pool_proj", proj, 1)
        return n.concat([a, b, c, d], f"{name}/output")

    x = n.pool(n.conv_relu(n.data(3, size, size), "conv1/7x7_s2", 64 // part, 7, 2, 3), "pool1/3x3_s2")
    x = n.conv_relu(n.conv_relu(n.lrn(x, "pool1/norm1"), "conv2/3x3_reduce", 64 // part, 1), "conv2/3x3", 192 // part, 3, pad=1)
    x = n.pool(n.lrn(x, "conv2/norm2"), "pool2/3x3_s2")
    x = inception(inception(x, "inception_3a", (64, 96, 128, 16, 32, 32)), "inception_3b", (128, 128, 192, 32, 96, 64))
    x = n.pool(x, "pool3/3x3_s2")
    for name, widths in (("4a", (192, 96, 208, 16, 48, 64)), ("4b", (160, 112, 224, 24, 64, 64)), ("4c", (128, 128, 256, 24, 64, 64)), ("4d", (112, 144, 288, 32, 64, 64)),
                         ("4e", (256, 160, 320, 32, 128, 128))):
        x = inception(x, f"inception_{name}", widths)
    x = n.pool(x, "pool4/3x3_s2")
    x = inception(inception(x, "inception_5a", (256, 160, 320, 32, 128, 128)), "inception_5b", (384, 192, 384, 48, 128, 128))
    x = n.dropout(n.pool(x, "pool5/7x7_s1", n.shape[x][1], 1, method="AVE"))
    n.softmax(n.dense(x, "loss3/classifier", 1000))
    return n


def resnet50(size=224, part=4):
    n = Chain("ResNet-50")
    x = n.pool(n.conv_norm(n.data(3, size, size), "conv1", 64 // part, 7, 2, 3), "pool1")
    for stage, (count, width) in enumerate(((3, 64), (4, 128), (6, 256), (3, 512)), 2):
        width //= part
        for i in range(count):
            stride = 2 if i == 0 and stage > 2 else 1
            name = f"res{stage}{'abcdef'[i]}"
            short = n.conv_norm(x, f"{name}_branch1", 4 * width, 1, stride, relu=None) if i == 0 else x
            y = n.conv_norm(x, f"{name}_branch2a", width, 1, stride)
            y = n.conv_norm(y, f"{name}_branch2b", width, 3, 1, 1)
            y = n.conv_norm(y, f"{name}_branch2c", 4 * width, 1, relu=None)
            x = n.relu(n.add(short, y, name))
    x = n.pool(x, "pool5", 7, 1, method="AVE")
    n.softmax(n.dense(x, "fc1000", 1000))
    return n


def squeezenet(size=227):
    n = Chain("SqueezeNet 1.1")
    x = n.pool(n.conv_relu(n.data(3, size, size), "conv1", 64, 3, 2), "pool1")
    for i, (squeeze, expand) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)), 2):
        s = n.conv_relu(x, f"fire{i}/squeeze1x1", squeeze, 1)
        x = n.concat([n.conv_relu(s, f"fire{i}/expand1x1", expand, 1), n.conv_relu(s, f"fire{i}/expand3x3", expand, 3, pad=1)], f"fire{i}/concat")
        if i in (3, 5):
            x = n.pool(x, f"pool{i}")
    n.softmax(n.global_pool(n.conv_relu(n.dropout(x), "conv10", 1000, 1), "pool10"))
    return n


def mobilenet_v1(size=224, part=2, kind="Convolution"):
    n = Chain("MobileNet")
    x = n.conv_norm(n.data(3, size, size), "conv1", 32 // part, 3, 2, 1)
    widths = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1))
    for i, (width, stride) in enumerate(widths):
        channels = n.shape[x][0]
        x = n.relu(n.norm(n.conv(x, f"dw{i}", channels, 3, stride, 1, channels, False, kind)))
        x = n.conv_norm(x, f"sep{i}", width // part, 1)
    n.softmax(n.conv(n.global_pool(x, "pool6"), "fc7", 1000, 1))
    return n


def mobilenet_v2(size=224, part=2):
    n = Chain("MobileNetV2")
    x = n.conv_norm(n.data(3, size, size), "conv1", 32 // part, 3, 2, 1, relu="ReLU6")
    blocks = [(1, 16, 1)] + [(6, w, s if i == 0 else 1) for w, c, s in ((24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)) for i in range(c)]
    for i, (expand, width, stride) in enumerate(blocks):
        start, channels = x, n.shape[x][0]
        if expand > 1:
            x = n.conv_norm(x, f"b{i}/expand", channels * expand, 1, relu="ReLU6")
        x = n.conv_norm(x, f"b{i}/dw", channels * expand, 3, stride, 1, channels * expand, relu="ReLU6")
        x = n.conv_norm(x, f"b{i}/linear", width // part, 1, relu=None)
        if stride == 1 and n.shape[start][0] == width // part:
            x = n.add(start, x, f"b{i}/add")
    x = n.conv_norm(x, "conv_last", 1280 // part, 1, relu="ReLU6")
    n.softmax(n.conv(n.global_pool(x, "pool"), "fc", 1000, 1))
    return n


def mobilenet_ssd(size=300, part=2, classes=21):
    """The detector of chuanqi305, with DetectionOutput."""
    n = Chain("MobileNet-SSD")
    x = n.relu(n.conv(n.data(3, size, size), "conv0", 32 // part, 3, 2, 1))
    sources = []
    widths = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1), (1024, 2), (1024, 1))
    for i, (width, stride) in enumerate(widths, 1):
        channels = n.shape[x][0]
        x = n.conv_relu(n.conv_relu(x, f"conv{i}/dw", channels, 3, stride, 1, channels), f"conv{i}", width // part, 1)
        if i in (11, 13):
            sources.append(x)
    for i, (squeeze, width) in enumerate(((256, 512), (128, 256), (128, 256), (64, 128)), 14):
        x = n.conv_relu(n.conv_relu(x, f"conv{i}_1", squeeze // part, 1), f"conv{i}_2", width // part, 3, 2, 1)
        sources.append(x)
    parts = {"loc": [], "conf": [], "prior": []}
    sizes = ((60, None), (105, 150), (150, 195), (195, 240), (240, 285), (285, 300))
    for source, (low, high) in zip(sources, sizes):
        count = 3 if high is None else 6
        for what, outputs in (("loc", 4 * count), ("conf", classes * count)):
            y = n.conv(source, f"{source}_mbox_{what}", outputs, 1)
            n.blobs[y][1][0] *= 8 if what == "conf" else 1  # so that some classes stand out
            y = n.layer("Permute", y, f"{y}_perm", "permute_param { order: 0 order: 2 order: 3 order: 1 }")
            parts[what].append(n.layer("Flatten", y, f"{y}_flat", "flatten_param { axis: 1 }"))
        more = "" if high is None else f"max_size: {high} aspect_ratio: 3.0"
        parts["prior"].append(n.layer("PriorBox", [source, "data"], f"{source}_mbox_priorbox",
                                      f"prior_box_param {{ min_size: {low} {more} aspect_ratio: 2.0 flip: true clip: false "
                                      "variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5 }"))
    loc, conf = (n.layer("Concat", parts[what], f"mbox_{what}", "concat_param { axis: 1 }") for what in ("loc", "conf"))
    prior = n.layer("Concat", parts["prior"], "mbox_priorbox", "concat_param { axis: 2 }")
    conf = n.layer("Reshape", conf, "mbox_conf_reshape", f"reshape_param {{ shape {{ dim: 0 dim: -1 dim: {classes} }} }}")
    conf = n.layer("Softmax", conf, "mbox_conf_softmax", "softmax_param { axis: 2 }")
    conf = n.layer("Flatten", conf, "mbox_conf_flatten", "flatten_param { axis: 1 }")
    n.layer("DetectionOutput", [loc, conf, prior], "detection_out",
            f"include {{ phase: TEST }} detection_output_param {{ num_classes: {classes} share_location: true background_label_id: 0 "
            "nms_param { nms_threshold: 0.45 top_k: 100 } code_type: CENTER_SIZE keep_top_k: 100 confidence_threshold: 0.25 }")
    return n
