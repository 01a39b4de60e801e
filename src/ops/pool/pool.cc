// Pool: reduces each window of [N, C, spatial…] to one number.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/batch_items.h"
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/support/channels_last.h"
#include "ops/support/operands.h"
#include "ops/support/window.h"

namespace tern {
namespace {

// Integer types whose values a double represents exactly.
constexpr DTypeSet kIntsBelow64 = kInts & ~SetOf(DType::kI64) & ~SetOf(DType::kU64);

enum class PoolKind { kMax, kAverage, kLp };

struct Pool : ChannelOrder {
  PoolKind kind = PoolKind::kMax;
  std::vector<int64_t> kernel, strides, pads, dilations;
  AutoPad auto_pad = AutoPad::kNone;
  bool ceil_mode = false, count_include_pad = false, column_major = false;
  float p = 2;
  template <class V> void Visit(V& v) {
    v.Enum("kind", kind, {"max", "average", "lp"}, "the function of each window: maximum, mean or p-norm");
    v("kernel", kernel, "window size, one per spatial axis");
    v("strides", strides, "one per spatial axis; empty means 1");
    v("pads", pads, "pads at the start of each spatial axis, then at the end of each; empty means 0");
    v("dilations", dilations, "one per spatial axis; empty means 1");
    v.Enum("auto_pad", auto_pad, kAutoPadNames,
           "how pads are computed from sizes; `none` means that the attribute pads is used");
    v("ceil_mode", ceil_mode, "the last window may extend beyond the end if it starts inside");
    v("count_include_pad", count_include_pad, "in kind average, padding counts as zeros");
    v("p", p, "the exponent of kind lp");
    v("column_major", column_major, "indices count the spatial positions in column-major order");
    VisitChannels(v);
  }
};

Status CheckPads(const Window& window, const std::vector<int64_t>& kernel) {
  for (size_t i = 0; i < window.axes.size(); ++i) {
    const WindowAxis& a = window.axes[i];
    const int64_t extent = a.dilation * (kernel[i] - 1) + 1;
    if (std::max(a.begin, a.end) >= extent || std::min(a.begin, a.end) < 0)
      return InvalidModel("pads ", a.begin, " and ", a.end, " of spatial axis ", i, " must be in [0, ",
                          extent, "), smaller than the window");
  }
  return {};
}

Result<Window> WindowOf(const Pool& op) {
  if (op.kernel.empty()) return InvalidModel("kernel is empty");
  TERN_TRY(CheckKernel(std::vector<Dim>(op.kernel.begin(), op.kernel.end())));
  TERN_ASSIGN(Window window, MakeWindow(static_cast<int>(op.kernel.size()), op.strides, op.pads, op.dilations,
                                        op.auto_pad, op.ceil_mode));
  TERN_TRY(CheckPads(window, op.kernel));
  if (op.kind == PoolKind::kLp && !(op.p > 0)) return InvalidModel("p is ", op.p, ", but must be positive");
  return window;
}

// Returns the shape of y. x and y are in the order [N, C, spatial…].
Result<Shape> OutputShape(const Pool& op, const Shape& x) {
  TERN_ASSIGN(Window window, WindowOf(op));
  const int rank = static_cast<int>(op.kernel.size()) + 2;
  if (x.ranked && x.rank() != rank)
    return InvalidModel("kernel has ", op.kernel.size(), " numbers, so x must have rank ", rank, ", got ",
                        x.ToString());
  std::vector<Dim> out(static_cast<size_t>(rank));
  for (int i = 0; x.ranked && i < rank; ++i) {
    out[static_cast<size_t>(i)] = x[i];
    if (i < 2) continue;
    TERN_ASSIGN(out[static_cast<size_t>(i)],
                Positions(window, i - 2, x[i], op.kernel[static_cast<size_t>(i) - 2]));
  }
  return Shape(std::move(out));
}

Status Infer(const Pool& op, InferContext& c) {
  const DType type = c.TypeOf("x");
  if (op.kind != PoolKind::kMax && IsInt(type))
    return InvalidModel("only max pooling takes integers, got ", DTypeName(type));
  if (op.channels_last && c.Wants("indices"))
    return InvalidModel("indices refer to [N, C, spatial…] and are not available with channels_last");
  TERN_ASSIGN(Shape y, OutputShape(op, op.ToChannelsFirst(c.ShapeOf("x"))));
  y = op.ToOwnLayout(y);
  c.Out("y", type, y);
  c.Out("indices", DType::kI64, std::move(y));
  return {};
}

// One window along one axis. It starts at input position `start`, which is negative in the padding. The taps
// `first` to `last` - 1 are inside the input. The taps 0 to `padded` - 1 are inside the padded input.
struct Span {
  int64_t start, first, last, padded;
};

Span SpanOf(const WindowAxis& a, int64_t kernel, int64_t place, int64_t input) {
  const int64_t start = place * a.stride - a.begin;
  const auto taps_below = [&](int64_t limit) {  // taps k with start + k * dilation < limit
    return limit <= start ? 0 : std::min(kernel, (limit - start + a.dilation - 1) / a.dilation);
  };
  return {start, taps_below(0), taps_below(input), taps_below(input + a.end)};
}

struct Best {
  double value;
  int64_t index;
};

// Visits the input elements of one window by their offset in the plane.
class WindowWalker {
 public:
  WindowWalker(const Window& window, const std::vector<int64_t>& kernel, const Dims& input)
      : window_(window), kernel_(kernel), input_(input), spans_(input.size()) {}

  void Move(const Dims& place) {
    for (size_t i = 0; i < spans_.size(); ++i)
      spans_[i] = SpanOf(window_.axes[i], kernel_[i], place[i], input_[i]);
  }
  int64_t PaddedCount() const {
    int64_t n = 1;
    for (const Span& s : spans_) n *= s.padded;
    return n;
  }
  int64_t Count() const {
    int64_t n = 1;
    for (const Span& s : spans_) n *= s.last - s.first;
    return n;
  }
  template <class F> void Each(const F& visit) {
    if (Count() > 0) Each(0, 0, visit);
  }

 private:
  template <class F> void Each(size_t axis, int64_t offset, const F& visit) {
    if (axis == spans_.size()) return visit(offset);
    const Span& s = spans_[axis];
    for (int64_t k = s.first; k < s.last; ++k)
      Each(axis + 1, offset * input_[axis] + s.start + k * window_.axes[axis].dilation, visit);
  }
  const Window& window_;
  const std::vector<int64_t>& kernel_;
  const Dims& input_;
  std::vector<Span> spans_;
};

// Returns the maximum of a window and its index. NaN propagates. If several elements are equal to the
// maximum, returns the index of the first.
Best MaxOf(WindowWalker& walker, const double* x) {
  Best best{-std::numeric_limits<double>::infinity(), -1};
  walker.Each([&](int64_t i) {
    if (best.index < 0 || x[i] > best.value || (std::isnan(x[i]) && !std::isnan(best.value)))
      best = {x[i], i};
  });
  return best;
}

double AverageOf(WindowWalker& walker, const double* x, bool with_padding) {
  double sum = 0;
  walker.Each([&](int64_t i) { sum += x[i]; });
  const int64_t n = with_padding ? walker.PaddedCount() : walker.Count();
  return n ? sum / static_cast<double>(n) : 0;
}

double NormOf(WindowWalker& walker, const double* x, double p) {
  double sum = 0;
  walker.Each([&](int64_t i) { sum += std::pow(std::fabs(x[i]), p); });
  return std::pow(sum, 1.0 / p);
}

int64_t ColumnMajor(int64_t offset, const Dims& spatial) {
  Dims index(spatial.size());
  for (size_t i = spatial.size(); i-- > 0; offset /= spatial[i]) index[i] = offset % spatial[i];
  int64_t out = 0;
  for (size_t i = spatial.size(); i-- > 0;) out = out * spatial[i] + index[i];
  return out;
}

Status Reference(const Pool& op, EvalContext& c) {
  const Dims dx = op.ToChannelsFirst(c.In("x").dims());
  TERN_ASSIGN(Shape shape, OutputShape(op, Shape::Of(dx)));
  TERN_ASSIGN(Window window, WindowOf(op));
  const Dims dy = shape.Concrete(), input(dx.begin() + 2, dx.end()), output(dy.begin() + 2, dy.end());
  window = ResolvePads(std::move(window), input, op.kernel);
  const auto x = op.ValuesToChannelsFirst(c.Doubles("x"), dx);
  std::vector<double> y(static_cast<size_t>(CountOf(dy)));
  std::vector<int64_t> indices(y.size(), 0);
  WindowWalker walker(window, op.kernel, input);
  const int64_t plane = CountOf(input);
  Dims place(output.size(), 0);
  size_t at = 0;
  for (int64_t channel = 0; !y.empty() && channel < dx[0] * dx[1]; ++channel) {
    const double* from = x.data() + channel * plane;
    do {
      walker.Move(place);
      if (op.kind == PoolKind::kMax) {
        const Best best = MaxOf(walker, from);
        y[at] = best.value;
        indices[at] = channel * plane +
                      (op.column_major && best.index >= 0 ? ColumnMajor(best.index, input) : best.index);
      } else {
        y[at] = op.kind == PoolKind::kAverage ? AverageOf(walker, from, op.count_include_pad)
                                              : NormOf(walker, from, op.p);
      }
      ++at;
    } while (NextIndex(place, output, static_cast<int>(output.size())));
  }
  c.Out("y", op.ToOwnLayout(dy), op.ValuesToOwnLayout(std::move(y), dy));
  c.OutLongs("indices", dy, indices);
  return {};
}

}  // namespace

TERN_OP(Pool) {
  return OpDef::Of<Pool>(
             "max, mean or p-norm of each window; indices: the position of each maximum in the flat input")
      .In("x", kRealFloats | kIntsBelow64)
      .Out("y", kRealFloats | kIntsBelow64)
      .OptOut("indices", SetOf(DType::kI64))
      .Flops(WindowFlops)
      .Batch(&BatchItems::OneResult)
      .KeepsScale([](const Attrs& a) { return a.As<Pool>().kind == PoolKind::kMax; })
      .Half(HalfRule::kWiden)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
