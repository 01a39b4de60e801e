// Binds Resize to its CPU kernels.
#include "kernels/cpu/resize/resize.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/cpu/move/copy.h"
#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/width.h"
#include "ops/image/resample.h"
#include "runtime/bind/support.h"
#include "runtime/bind/via_f32.h"

namespace tern {
namespace {

constexpr const char* kModes[] = {"nearest", "linear", "cubic"};
constexpr const char* kCoordinates[] = {"half_pixel",        "half_pixel_symmetric", "pytorch_half_pixel",
                                        "align_corners",     "asymmetric",           "tf_half_pixel_for_nn",
                                        "tf_crop_and_resize"};
constexpr const char* kNearest[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"};

ResizeFilter FilterOf(const Attrs& a) {
  ResizeFilter f;
  f.mode = static_cast<ResizeMode>(IndexOf(kModes, a.Text("mode")));
  f.coordinates = static_cast<ResizeCoordinates>(IndexOf(kCoordinates, a.Text("coordinates")));
  f.nearest = static_cast<ResizeNearest>(IndexOf(kNearest, a.Text("nearest")));
  f.antialias = a.Bool("antialias"), f.exclude_outside = a.Bool("exclude_outside"),
  f.cubic_a = a.Float("cubic_a");
  return f;
}

bool HasScales(const KernelQuery& q) { return q.Has(2) && CountOf(q.InDims(2)) > 0; }

// Returns whether kernels support the node. The reference evaluator runs crops, aspect-preserving sizes and
// empty tensors.
bool Supported(const KernelQuery& q) {
  if (q.attrs().Text("coordinates") == "tf_crop_and_resize" || q.attrs().Text("aspect") != "stretch" ||
      !RankFits(q.InDims(0)))
    return false;
  if (CountOf(q.InDims(0)) == 0 || CountOf(q.OutDims(0)) == 0) return false;
  for (int64_t d : q.InDims(0))
    if (d > INT32_MAX) return false;
  return HasScales(q) ? q.Known(2) != nullptr : q.Has(3);
}

std::vector<ResizeAxis> AxesOf(const KernelQuery& q) {
  const Dims &x = q.InDims(0), &y = q.OutDims(0);
  std::vector<ResizeAxis> all;
  for (size_t i = 0; i < x.size(); ++i) all.push_back({x[i], y[i]});
  auto axes = q.attrs().Ints("axes");
  if (axes.empty())
    for (size_t i = 0; i < x.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = all[AxisOf(axes[i], x.size())];
    axis.sized = !HasScales(q);
    axis.scale = HasScales(q) ? LoadDouble(*q.Known(2), static_cast<int64_t>(i))
                              : static_cast<double>(axis.output) / static_cast<double>(axis.input);
  }
  return all;
}

class Nearest : public KernelOf<Nearest> {
 public:
  static bool Legal(const KernelQuery& q) {
    return Supported(q) && q.attrs().Text("mode") == "nearest" && cpu::WidthOf(q.InType(0)) > 0;
  }
  Status Resize(ResizeContext& c) override {
    const ResizeFilter filter = FilterOf(c->attrs());
    const Dims steps = ContiguousStrides(c->InDims(0));
    sources_.clear();
    plan_ = {};
    for (const ResizeAxis& axis : AxesOf(c.query())) {
      auto& list = sources_.emplace_back();
      for (int64_t i = 0; i < axis.output; ++i)
        list.push_back(axis.identity() ? i
                                       : NearestPosition(filter.nearest, axis,
                                                         SourcePosition(filter.coordinates, axis, i)));
      const auto k = static_cast<size_t>(plan_.rank++);
      plan_.dims[k] = axis.output, plan_.steps[k] = steps[k];
    }
    return {};
  }
  Status Run(RunContext& c) override {
    for (size_t i = 0; i < sources_.size(); ++i) plan_.sources[i] = sources_[i].data();
    if (c.Out(0).size())
      cpu::Copy(plan_, c.In(0).raw(), c.Out(0).raw(), cpu::WidthOf(c.In(0).dtype()), c.workers());
    return {};
  }

 private:
  std::vector<std::vector<int64_t>> sources_;
  cpu::MappedCopy plan_;
};

// Returns approximately the time to resample the axes one after the other in this order. A pass along the
// last axis computes element by element. Passes along other axes compute vectors of the axes after them. An
// antialiasing pass reads all of its input. Sizes are doubles, because the values between passes of an order
// that is not chosen may be huge.
double TimeInOrder(const Dims& dims, const std::vector<ResizeAxis>& axes, const std::vector<size_t>& order,
                   bool antialias) {
  std::vector<double> sizes(dims.begin(), dims.end());
  const auto from = [&](size_t first) {
    return std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(first), sizes.end(), 1.0,
                           std::multiplies<>());
  };
  double time = 0;
  for (size_t i : order) {
    const double before = sizes[i];
    sizes[i] = static_cast<double>(axes[i].output);
    const double inner = from(i + 1), taps = antialias ? std::max(1.0, before / sizes[i]) : 1;
    time += from(0) * taps * (inner == 1 ? 8 : 1 + 16 / inner);
  }
  return time;
}

// Returns the axes that change their size, in the order that takes the least time. For example, images that
// grow are resampled along rows first, because the pass along columns is faster and has the larger result. If
// there are more than kMaxPermuted such axes, they are in the order of ShrinkingFirst.
std::vector<size_t> FastestOrder(const Dims& dims, const std::vector<ResizeAxis>& axes, bool antialias) {
  constexpr size_t kMaxPermuted = 5;
  std::vector<size_t> order;
  for (size_t i : ShrinkingFirst(axes))
    if (!axes[i].identity()) order.push_back(i);
  if (order.size() > kMaxPermuted) return order;
  std::vector<size_t> other = order, best = order;
  std::sort(other.begin(), other.end());
  do
    if (TimeInOrder(dims, axes, other, antialias) < TimeInOrder(dims, axes, best, antialias)) best = other;
  while (std::next_permutation(other.begin(), other.end()));
  return best;
}

class Interpolate : public KernelOf<Interpolate> {
 public:
  static bool Legal(const KernelQuery& q) {
    return Supported(q) && q.attrs().Text("mode") != "nearest" && q.InType(0) == DType::kF32;
  }
  Status Resize(ResizeContext& c) override {
    const ResizeFilter filter = FilterOf(c->attrs());
    Dims dims = c->InDims(0);
    passes_.clear();
    size_t largest = 0;
    const auto axes = AxesOf(c.query());
    for (size_t i : FastestOrder(dims, axes, filter.antialias)) {
      Pass pass{{}, CountFrom(dims, 0, i), CountFrom(dims, i + 1, dims.size())};
      TERN_TRY(SetTaps(filter, axes[i], pass.taps));
      if (pass.inner == 1) pass.taps.SetColumns();
      dims[i] = axes[i].output;
      largest = std::max(largest, static_cast<size_t>(CountOf(dims)));
      passes_.push_back(std::move(pass));
    }
    buffer_ = passes_.size() > 1 ? static_cast<size_t>(cpu::LineAligned(static_cast<int64_t>(largest))) : 0;
    c.SetScratch(2 * buffer_ * sizeof(float));
    return {};
  }
  Status Run(RunContext& c) override {
    if (c.Out(0).size() == 0) return {};
    const float* from = c.In<float>(0);
    if (passes_.empty()) std::copy(from, from + c.In(0).size(), c.Out<float>(0));
    for (size_t i = 0; i < passes_.size(); ++i) {
      float* to = i + 1 == passes_.size() ? c.Out<float>(0) : c.scratch<float>() + (i % 2) * buffer_;
      cpu::ResampleF32(passes_[i].taps, passes_[i].outer, passes_[i].inner, from, to, c.workers());
      from = to;
    }
    return {};
  }

 private:
  struct Pass {
    cpu::AxisTaps taps;
    int64_t outer, inner;
  };
  static Status SetTaps(const ResizeFilter& filter, const ResizeAxis& axis, cpu::AxisTaps& out) {
    std::vector<std::vector<Tap>> taps_of_outputs;
    for (int64_t i = 0; i < axis.output; ++i) {
      TERN_ASSIGN(auto taps, TapsAt(filter, axis, SourcePosition(filter.coordinates, axis, i)));
      out.taps = std::max(out.taps, static_cast<int64_t>(taps.size()));
      taps_of_outputs.push_back(std::move(taps));
    }
    out.input = axis.input, out.output = axis.output;
    for (const auto& taps : taps_of_outputs)
      for (size_t t = 0; t < static_cast<size_t>(out.taps); ++t) {
        out.positions.push_back(t < taps.size() ? taps[t].position : 0);
        out.weights.push_back(t < taps.size() ? static_cast<float>(taps[t].weight) : 0.f);
      }
    return {};
  }
  std::vector<Pass> passes_;
  size_t buffer_ = 0;  // size in floats of each of the two buffers between passes
};

}  // namespace

TERN_KERNELS(Resize) {
  table.Add<Nearest>("Resize", "cpu.resize.nearest", Nearest::Legal);
  AddWithHalf<Interpolate>(table, "Resize", "cpu.resize.interpolate.f32");
}

}  // namespace tern
