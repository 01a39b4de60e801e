"""Recurrent layers, losses, and layers of detectors."""

import tempfile

import numpy as np
from caffe_net import Net
from layer_test import LayerTest, numbers, opencv
from run_model import run_model
from test_elements import sigmoid


def lstm(x, cont, w, b, wh, extra=0.0, h=None, c=None):
    steps, batch = cont.shape
    size = wh.shape[1]
    h = np.zeros((batch, size)) if h is None else h
    c = np.zeros((batch, size)) if c is None else c
    out = []
    for t in range(steps):
        keep = cont[t][:, None]
        gates = x[t].reshape(batch, -1) @ w.T + b + extra + (h * keep) @ wh.T
        i, f, o, g = np.split(gates, 4, 1)
        c = keep * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        out.append(h)
    return np.array(out), h, c


class Recurrent(LayerTest):
    def setUp(self):
        self.cont = np.array([[0, 0], [1, 1], [1, 0], [1, 1]], np.float32)
        self.x = numbers(4, 2, 3, 2)

    def test_lstm(self):
        w, b, wh = numbers(20, 6, seed=1), numbers(20, seed=2), numbers(20, 5, seed=3)
        wanted, _, _ = lstm(self.x, self.cont, w, b, wh)
        self.check("LSTM", [self.x, self.cont], wanted, "recurrent_param { num_output: 5 }", [w, b, wh])

    def test_lstm_with_a_static_input(self):
        w, b, wh, ws, fixed = numbers(20, 6, seed=1), numbers(20, seed=2), numbers(20, 5, seed=3), numbers(20, 4, seed=4), numbers(2, 4, seed=5)
        wanted, _, _ = lstm(self.x, self.cont, w, b, wh, fixed @ ws.T)
        self.check("LSTM", [self.x, self.cont, fixed], wanted, "recurrent_param { num_output: 5 }", [w, b, ws, wh])

    def test_lstm_with_exposed_states(self):
        w, b, wh = numbers(20, 6, seed=1), numbers(20, seed=2), numbers(20, 5, seed=3)
        h, c, cont = numbers(1, 2, 5, seed=6), numbers(1, 2, 5, seed=7), np.ones((4, 2), np.float32)
        wanted = lstm(self.x, cont, w, b, wh, 0, h[0], c[0])
        got = self.run_layer("LSTM", [self.x, cont, h, c], "recurrent_param { num_output: 5 expose_hidden: true }", [w, b, wh], tops=["y", "h", "c"])
        self.close(got[0], wanted[0])
        self.close(got[1], wanted[1][None])
        self.close(got[2], wanted[2][None])

    def test_rnn(self):
        w, b, wh, wo, bo = numbers(5, 6, seed=1), numbers(5, seed=2), numbers(5, 5, seed=3), numbers(5, 5, seed=4), numbers(5, seed=5)
        h, wanted = np.zeros((2, 5)), []
        for t in range(4):
            h = np.tanh(self.x[t].reshape(2, 6) @ w.T + b + (h * self.cont[t][:, None]) @ wh.T)
            wanted.append(np.tanh(h @ wo.T + bo))
        self.check("RNN", [self.x, self.cont], np.array(wanted), "recurrent_param { num_output: 5 }", [w, b, wh, wo, bo])

    def test_lstm_unit(self):
        c, gates, cont = numbers(1, 2, 5), numbers(1, 2, 20, seed=1), np.array([[1, 0]], np.float32)
        i, f, o, g = np.split(gates.astype(np.float64), 4, 2)
        next_c = cont[:, :, None] * sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        got = self.run_layer("LSTMUnit", [c, gates, cont], tops=["c", "h"])
        self.close(got[0], next_c)
        self.close(got[1], sigmoid(o) * np.tanh(next_c))


class Losses(LayerTest):
    def test_softmax_with_loss(self):
        x = numbers(4, 5, 2, 3)
        label = np.random.default_rng(1).integers(0, 5, (4, 2, 3)).astype(np.float32)
        e = np.exp(x.astype(np.float64))
        prob = e / e.sum(1, keepdims=True)
        picked = -np.log(np.take_along_axis(prob, label[:, None].astype(int), 1)[:, 0])
        for params, wanted in (("", picked.mean()), ("loss_param { normalization: BATCH_SIZE }", picked.sum() / 4), ("loss_param { normalization: NONE }", picked.sum()),
                               ("loss_param { normalize: false }", picked.sum() / 4), ("loss_param { ignore_label: 2 }", picked[label != 2].mean()),
                               ("loss_param { ignore_label: 2 normalization: FULL }", picked[label != 2].sum() / 24)):
            self.check("SoftmaxWithLoss", [x, label], wanted, params)
        self.close(self.run_layer("SoftmaxWithLoss", [x, label], tops=["loss", "prob"])[1], prob)

    def test_accuracy(self):
        x = numbers(40, 5)
        label = np.random.default_rng(1).integers(0, 5, 40).astype(np.float32)
        rank = (x >= np.take_along_axis(x, label[:, None].astype(int), 1)).sum(1)
        self.check("Accuracy", [x, label], (rank <= 1).mean())
        self.check("Accuracy", [x, label], (rank <= 3).mean(), "accuracy_param { top_k: 3 }")
        self.check("Accuracy", [x, label], (rank <= 1)[label != 2].mean(), "accuracy_param { ignore_label: 2 }")

    def test_other_losses(self):
        a, b = numbers(4, 5), numbers(4, 5, seed=1)
        label = np.array([0, 3, 4, 1], np.float32)
        self.check("EuclideanLoss", [a, b], ((a - b) ** 2).sum() / 8)
        target = (b > 0).astype(np.float32)
        entropy = -(target * np.log(sigmoid(a)) + (1 - target) * np.log(1 - sigmoid(a)))
        self.check("SigmoidCrossEntropyLoss", [a, target], entropy.sum() / 4)
        self.check("SigmoidCrossEntropyLoss", [a, target], entropy[target != 0].sum() / (target != 0).sum(), "loss_param { ignore_label: 0 normalize: true }")
        prob = np.abs(a) / np.abs(a).sum(1, keepdims=True)
        self.check("MultinomialLogisticLoss", [prob, label], -np.log(prob[range(4), label.astype(int)]).mean())
        matrix, e = numbers(1, 1, 5, 5, seed=3, low=0), np.exp(a)
        wanted = -(matrix[0, 0][label.astype(int)] * np.log(e / e.sum(1, keepdims=True))).sum() / 4
        self.check("InfogainLoss", [a, label, matrix], wanted)
        margin = a.copy()
        margin[range(4), label.astype(int)] *= -1
        margin = np.maximum(0, 1 + margin)
        self.check("HingeLoss", [a, label], margin.sum() / 4)
        self.check("HingeLoss", [a, label], (margin ** 2).sum() / 4, "hinge_loss_param { norm: L2 }")
        same = np.array([1, 0, 0, 1], np.float32)
        squared = ((a - b) ** 2).sum(1)
        apart = np.maximum(5 - np.sqrt(squared), 0) ** 2
        self.check("ContrastiveLoss", [a, b, same], np.where(same, squared, apart).sum() / 8, "contrastive_loss_param { margin: 5 }")
        apart = np.maximum(9 - squared, 0)
        self.check("ContrastiveLoss", [a, b, same], np.where(same, squared, apart).sum() / 8, "contrastive_loss_param { margin: 9 legacy_version: true }")


class Detectors(LayerTest):
    def test_prior_box(self):
        feature, image = numbers(1, 2, 3, 4), numbers(1, 3, 30, 44)
        for params in ("min_size: 6", "min_size: 6 max_size: 12 aspect_ratio: 2 aspect_ratio: 3", "min_size: 6 aspect_ratio: 2 flip: false clip: true",
                       "min_size: 6 min_size: 10 max_size: 9 max_size: 15 aspect_ratio: 2 variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 step: 8 offset: 0.4"):
            for field, value in (("clip:", "clip: false"), ("flip:", "flip: true"), ("variance:", "variance: 0.3")):
                params = params if field in params else f"{params} {value}"
            with self.subTest(params=params):
                self.check_opencv("PriorBox", [feature, image], f"prior_box_param {{ {params} }}")

    def test_prior_box_of_another_image(self):
        """OpenCV ignores img_h and img_w, and does not truncate sizes."""
        feature, image = numbers(1, 2, 2, 3), numbers(1, 3, 30, 44)
        boxes = []
        for h in range(2):
            for w in range(3):
                x, y = (w + 0.5) * 6, (h + 0.5) * 5
                for size in (6, np.sqrt(6 * 13)):
                    boxes += [(x - size / 2) / 50, (y - size / 2) / 60, (x + size / 2) / 50, (y + size / 2) / 60]
        wanted = np.stack([boxes, np.full(len(boxes), 0.1)])[None]
        self.check("PriorBox", [feature, image], wanted, "prior_box_param { min_size: 6.7 max_size: 13.2 img_h: 60 img_w: 50 step_h: 5 step_w: 6 }")

    def detections(self, params, batch=1, classes=4, priors=30, places=1, seed=0):
        rng = np.random.default_rng(seed)
        corner = rng.uniform(0, 0.7, (priors, 2))
        boxes = np.concatenate([corner, corner + rng.uniform(0.05, 0.3, (priors, 2))], 1)
        prior = np.stack([boxes.ravel(), np.tile([0.1, 0.1, 0.2, 0.2], priors)])[None].astype(np.float32)
        loc = numbers(batch, priors * places * 4, seed=seed + 1)
        e = np.exp(numbers(batch, priors, classes, seed=seed + 2))
        conf = (e / e.sum(-1, keepdims=True)).reshape(batch, -1).astype(np.float32)
        return [loc, conf, prior], f"detection_output_param {{ num_classes: {classes} {params} }}"

    def check_detections(self, params, **kwargs):
        """OpenCV does not sort the rows by class, and adds rows of zeros."""
        inputs, text = self.detections(params, **kwargs)
        net, feeds = Net(), {}
        for i, array in enumerate(inputs):
            feeds[net.input(f"x{i}", array.shape)] = array
        net.layer("DetectionOutput", list(feeds), "y", text)
        with tempfile.TemporaryDirectory() as folder:
            files = net.write(folder)
            got, wanted = run_model(files[0], feeds)["y"], opencv(*files, feeds, ["y"])["y"]
        rows = wanted.reshape(-1, 7)
        rows = rows[rows[:, 2] > 0]
        rows = rows[np.lexsort((-rows[:, 2], rows[:, 1], rows[:, 0]))]
        self.close(got.reshape(-1, 7), rows, msg=params)

    def test_detection_output(self):
        for params in ("share_location: true background_label_id: 0 nms_param { nms_threshold: 0.45 top_k: 100 } code_type: CENTER_SIZE keep_top_k: 100 confidence_threshold: 0.2",
                       "share_location: true background_label_id: 0 nms_param { nms_threshold: 0.3 top_k: 5 } code_type: CENTER_SIZE keep_top_k: 6 confidence_threshold: 0.01",
                       "share_location: true background_label_id: 0 nms_param { nms_threshold: 0.3 top_k: 400 } code_type: CORNER keep_top_k: 200 confidence_threshold: 0.1"):
            for batch in (1, 2):
                with self.subTest(params=params, batch=batch):
                    self.check_detections(params, batch=batch)

    def test_boxes_per_class(self):
        self.check_detections("share_location: false background_label_id: 0 nms_param { nms_threshold: 0.45 top_k: 100 } code_type: CENTER_SIZE keep_top_k: 100 confidence_threshold: 0.2",
                              places=4)

    def test_no_detections(self):
        inputs, text = self.detections("nms_param { nms_threshold: 0.4 top_k: 9 } keep_top_k: 5 confidence_threshold: 2", batch=2)
        self.check("DetectionOutput", inputs, np.array([[[[0] + [-1] * 6, [1] + [-1] * 6]]], np.float32), text)

    def test_roi_pooling(self):
        x = numbers(2, 3, 12, 14)
        rois = np.array([[0, 0, 0, 100, 90], [1, 20, 30, 80, 95], [0, 50, 50, 51, 51]], np.float32)
        scale, bins = 1 / 8, (3, 2)
        wanted = np.zeros((3, 3, *bins), np.float32)
        for r, (item, *sides) in enumerate(rois):
            x0, y0, x1, y1 = (int(np.floor(s * scale + 0.5)) for s in sides)
            for i in range(bins[0]):
                for j in range(bins[1]):
                    h, w = max(y1 - y0 + 1, 1) / bins[0], max(x1 - x0 + 1, 1) / bins[1]
                    part = x[int(item), :, max(int(np.floor(i * h)) + y0, 0):min(int(np.ceil((i + 1) * h)) + y0, 12),
                             max(int(np.floor(j * w)) + x0, 0):min(int(np.ceil((j + 1) * w)) + x0, 14)]
                    wanted[r, :, i, j] = part.reshape(3, -1).max(1) if part.size else 0
        params = f"roi_pooling_param {{ pooled_h: 3 pooled_w: 2 spatial_scale: {scale} }}"
        self.check("ROIPooling", [x, rois], wanted, params)
        self.check("ROIPooling", [x, rois.reshape(3, 5, 1, 1)], wanted, params)

    def test_psroi_pooling(self):
        bins, outputs, scale = 3, 2, 1 / 8
        x = numbers(2, outputs * bins * bins, 12, 14)
        rois = np.array([[0, 0, 0, 100, 90], [1, 20.4, 30, 80.6, 95], [0, 50, 50, 51, 51]], np.float32)
        wanted = np.zeros((3, outputs, bins, bins))
        for r, (item, *sides) in enumerate(rois):
            x0, y0 = (np.floor(s + 0.5) * scale for s in sides[:2])
            x1, y1 = ((np.floor(s + 0.5) + 1) * scale for s in sides[2:])
            h, w = max(y1 - y0, 0.1) / bins, max(x1 - x0, 0.1) / bins
            for o in range(outputs):
                for i in range(bins):
                    for j in range(bins):
                        part = x[int(item), (o * bins + i) * bins + j, max(int(np.floor(i * h + y0)), 0):min(int(np.ceil((i + 1) * h + y0)), 12),
                                 max(int(np.floor(j * w + x0)), 0):min(int(np.ceil((j + 1) * w + x0)), 14)]
                        wanted[r, o, i, j] = part.mean() if part.size else 0
        self.check("PSROIPooling", [x, rois], wanted, f"psroi_pooling_param {{ spatial_scale: {scale} output_dim: {outputs} group_size: {bins} }}")
