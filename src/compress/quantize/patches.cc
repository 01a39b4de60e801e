#include "compress/quantize/patches.h"

#include <algorithm>
#include <random>

#include "passes/rewrite/facts.h"

namespace tern::compress {
namespace {

AutoPad AutoPadOf(const Node& node) {
  const std::string name = node.attrs.Text("auto_pad");
  for (size_t i = 0; i < kAutoPadNames.size(); ++i)
    if (name == kAutoPadNames[i]) return static_cast<AutoPad>(i);
  return AutoPad::kNone;
}

// Returns the spatial sizes of x [N, C, spatial…] as two axes.
Dims PlaneOf(const Tensor& x) { return x.rank() == 3 ? Dims{1, x.dim(2)} : Dims{x.dim(2), x.dim(3)}; }

}  // namespace

std::optional<Patches> Patches::Of(const Node& node) {
  Patches made;
  const Tensor& w = node.input(1)->constant;
  if (IsOp(node, "MatMul")) {
    if (node.attrs.Bool("transpose_a")) return std::nullopt;
    made.product_ = true;
    made.columns_ = w.dim(node.attrs.Bool("transpose_b") ? 1 : 0);
    return made;
  }
  const int axes = w.rank() - 2;
  if (axes != 1 && axes != 2) return std::nullopt;
  auto window = MakeWindow(axes, node.attrs.Ints("strides"), node.attrs.Ints("pads"),
                           node.attrs.Ints("dilations"), AutoPadOf(node));
  if (!window.ok()) return std::nullopt;
  made.window_ = std::move(*window);
  if (axes == 1) made.window_.axes.insert(made.window_.axes.begin(), WindowAxis{});
  made.kernel_ = axes == 1 ? Dims{1, w.dim(2)} : Dims{w.dim(2), w.dim(3)};
  made.groups_ = node.attrs.Int("group");
  made.columns_ = w.size() / w.dim(0);
  return made;
}

void Patches::CopyWindow(const Tensor& x, int64_t position, const Window& window, const Dims& output,
                         float* to) const {
  const Dims plane = PlaneOf(x);
  const int64_t channels = x.dim(1), column = position % output[1], row = position / output[1] % output[0];
  const float* from = x.data<float>() + position / (output[0] * output[1]) * channels * plane[0] * plane[1];
  const WindowAxis &down = window.axes[0], &across = window.axes[1];
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t i = 0; i < kernel_[0]; ++i)
      for (int64_t j = 0; j < kernel_[1]; ++j) {
        const int64_t y = row * down.stride + i * down.dilation - down.begin;
        const int64_t z = column * across.stride + j * across.dilation - across.begin;
        const bool inside = y >= 0 && y < plane[0] && z >= 0 && z < plane[1];
        *to++ = inside ? from[(c * plane[0] + y) * plane[1] + z] : 0;
      }
}

std::vector<float> Patches::Sample(const Tensor& x, int64_t count, uint64_t seed) const {
  const int64_t width = groups_ * columns_;
  if (x.size() == 0) return {};
  Window window;
  Dims output = {0, 0};
  int64_t positions = x.size() / width;
  if (!product_) {
    window = ResolvePads(window_, PlaneOf(x), kernel_);
    for (size_t i : {0, 1}) {
      const WindowAxis& a = window.axes[i];
      const int64_t span = (kernel_[i] - 1) * a.dilation + 1, padded = PlaneOf(x)[i] + a.begin + a.end;
      output[i] = padded < span ? 0 : (padded - span) / a.stride + 1;
    }
    positions = x.dim(0) * output[0] * output[1];
  }
  if (positions == 0) return {};
  std::mt19937_64 random(seed);
  std::vector<float> rows(static_cast<size_t>(count * width));
  for (int64_t r = 0; r < count; ++r) {
    // If there are few positions, each of them is used before one is used again.
    const int64_t at = positions <= count ? r % positions
                                          : static_cast<int64_t>(random() % static_cast<uint64_t>(positions));
    float* to = rows.data() + r * width;
    if (product_)
      std::copy_n(x.data<float>() + at * width, width, to);
    else
      CopyWindow(x, at, window, output, to);
  }
  return rows;
}

}  // namespace tern::compress
