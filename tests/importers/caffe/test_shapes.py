"""Layers that move elements, and layers without bottoms."""

import numpy as np
from layer_test import LayerTest, numbers


class Shapes(LayerTest):
    def test_concat(self):
        a, b = numbers(2, 3, 4, 5), numbers(2, 2, 4, 5, seed=1)
        self.check("Concat", [a, b], np.concatenate([a, b], 1))
        self.check("Concat", [a, a], np.concatenate([a, a], 0), "concat_param { concat_dim: 0 }")
        self.check("Concat", [a, a], np.concatenate([a, a], 3), "concat_param { axis: -1 }")
        self.check("Concat", [a], a)

    def test_slice(self):
        x = numbers(2, 6, 4, 5)
        parts = self.run_layer("Slice", [x], "slice_param { slice_point: 1 slice_point: 4 }", tops=["a", "b", "c"])
        for got, wanted in zip(parts, np.split(x, [1, 4], 1)):
            self.close(got, wanted)
        parts = self.run_layer("Slice", [x], "slice_param { axis: -2 }", tops=["a", "b"])
        for got, wanted in zip(parts, np.split(x, 2, 2)):
            self.close(got, wanted)
        parts = self.run_layer("Slice", [x], "slice_param { slice_dim: 0 }", tops=["a", "b"])
        self.close(parts[1], x[1:])

    def test_views(self):
        x = numbers(2, 3, 4, 5)
        for kind, params, dims in (
                ("Flatten", "", (2, 60)), ("Flatten", "flatten_param { axis: 2 }", (2, 3, 20)), ("Flatten", "flatten_param { axis: 1 end_axis: 2 }", (2, 12, 5)),
                ("Flatten", "flatten_param { axis: 0 }", (120,)), ("Flatten", "flatten_param { axis: -3 end_axis: -2 }", (2, 12, 5)),
                ("Reshape", "reshape_param { shape { dim: 0 dim: -1 } }", (2, 60)), ("Reshape", "reshape_param { shape { dim: 0 dim: 0 dim: 20 } }", (2, 3, 20)),
                ("Reshape", "reshape_param { shape { dim: 2 dim: 2 dim: -1 } axis: 2 }", (2, 3, 2, 2, 5)),
                ("Reshape", "reshape_param { shape { dim: 6 } axis: 0 num_axes: 2 }", (6, 4, 5)), ("Reshape", "reshape_param { shape { dim: 1 } axis: 1 num_axes: 0 }", (2, 1, 3, 4, 5)),
                ("Reshape", "reshape_param { shape { dim: 1 } axis: -1 num_axes: 0 }", (2, 3, 4, 5, 1)), ("Reshape", "reshape_param { shape { dim: -1 dim: 10 } axis: -3 }", (2, 3, 2, 10))):
            with self.subTest(params=params):
                self.check(kind, x, x.reshape(dims), params)

    def test_permute(self):
        x = numbers(2, 3, 4, 5)
        self.check("Permute", x, x.transpose(0, 2, 3, 1), "permute_param { order: 0 order: 2 order: 3 order: 1 }")
        self.check("Permute", x, x.transpose(2, 0, 1, 3), "permute_param { order: 2 }")

    def test_crop(self):
        x, like = numbers(2, 3, 8, 9), numbers(2, 3, 5, 6)
        self.check("Crop", [x, like], x[:, :, 2:7, 2:8], "crop_param { offset: 2 }")
        self.check("Crop", [x, like], x[:, :, 1:6, 3:9], "crop_param { axis: 2 offset: 1 offset: 3 }")
        self.check("Crop", [x, numbers(1, 2, 5, 6)], x[1:, 1:, 1:6, 1:7], "crop_param { axis: 0 offset: 1 }")
        self.check("Crop", [x, like], x[:, :, :5, :6])

    def test_tile(self):
        x = numbers(2, 3, 4, 5)
        self.check("Tile", x, np.tile(x, (1, 3, 1, 1)), "tile_param { tiles: 3 }")
        self.check("Tile", x, np.tile(x, (1, 1, 1, 2)), "tile_param { axis: -1 tiles: 2 }")

    def test_channels(self):
        x = numbers(2, 6, 4, 4)
        self.check("ShuffleChannel", x, x.reshape(2, 3, 2, 4, 4).transpose(0, 2, 1, 3, 4).reshape(2, 6, 4, 4), "shuffle_channel_param { group: 3 }")
        blocks = x.reshape(2, 6, 2, 2, 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(2, 24, 2, 2)
        self.check("Reorg", x, blocks, "reorg_param { stride: 2 }")

    def test_items(self):
        x = numbers(4, 3, 2)
        self.check("BatchReindex", [x, np.array([3, 0, 0], np.float32)], x[[3, 0, 0]])
        a, b = self.run_layer("Filter", [x, x * 2, np.array([[1], [0], [0], [1]], np.float32)], tops=["a", "b"])
        self.close(a, x[[0, 3]])
        self.close(b, 2 * x[[0, 3]])

    def test_interp(self):
        x = numbers(1, 2, 5, 6)

        def resized(height, width, x=x):
            def axis(size, out):
                at = np.linspace(0, size - 1, out) if out > 1 else np.zeros(1)
                low = np.minimum(at.astype(int), size - 1)
                return low, np.minimum(low + 1, size - 1), at - low
            y0, y1, fy = axis(x.shape[2], height)
            x0, x1, fx = axis(x.shape[3], width)
            rows = x[:, :, y0] * (1 - fy)[:, None] + x[:, :, y1] * fy[:, None]
            return rows[..., x0] * (1 - fx) + rows[..., x1] * fx

        self.check("Interp", x, resized(9, 11), "interp_param { height: 9 width: 11 }")
        self.check("Interp", x, resized(9, 11), "interp_param { zoom_factor: 2 }")
        self.check("Interp", x, resized(3, 3), "interp_param { shrink_factor: 2 }")
        self.check("Interp", [x, numbers(1, 1, 7, 4)], resized(7, 4), "")
        self.check("Interp", x, resized(5, 7, x[:, :, 1:4, 1:5]), "interp_param { zoom_factor: 2 pad_beg: -1 pad_end: -1 }")
        self.check_opencv("Interp", x, "interp_param { height: 9 width: 11 }")

    def test_sources(self):
        x = numbers(2, 3)
        net = self.network()
        net.layer("DummyData", [], "ones", "dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: 'constant' value: 1.5 } }")
        net.layer("Parameter", [], "p", "parameter_param { shape { dim: 3 } }", [np.array([1, 2, 3])])
        net.layer("Eltwise", ["x", "ones"], "sum")
        net.layer("Bias", ["sum", "p"], "y", "bias_param { axis: 1 }")
        self.close(self.run_net(net, {"x": x})["y"], x + 1.5 + np.array([1, 2, 3]))

    def network(self):
        from caffe_net import Net
        net = Net()
        net.input("x", (2, 3))
        return net

    def test_memory_data(self):
        from caffe_net import Net
        net = Net()
        net.layer("MemoryData", [], "data", "memory_data_param { batch_size: 2 channels: 3 height: 4 width: 4 }", tops=["data", "label"])
        net.layer("Pooling", "data", "y", "pooling_param { pool: AVE global_pooling: true }")
        net.layer("Silence", "label", "quiet", tops=[])
        x = numbers(2, 3, 4, 4)
        self.close(self.run_net(net, {"data": x, "label": np.zeros(2, np.float32)})["y"], x.mean((2, 3), keepdims=True))
