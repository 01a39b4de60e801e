// Slice: x[start:end:step] along some axes.
#include "ir/axis_map.h"
#include "ir/slices.h"
#include "ops/shape/axes.h"
#include "ops/shape/element_copy.h"

namespace tern {
namespace {

struct Slice : NoAttrs {};

constexpr int64_t kToEnd = INT32_MAX;  // exporters write this or more for "to the end"

// The elements start, start + step, … along a dim of known size. Their number is `count`.
struct AxisRange {
  int64_t start = 0, count = 0, step = 1;
};

Result<AxisRange> Clamp(int64_t start, int64_t end, int64_t step, int64_t dim) {
  if (step == 0) return InvalidModel("a step is 0");
  // Clamps large values first, so that adding dim cannot overflow.
  const int64_t far = dim + 1;
  start = std::max(-far, std::min(start, far));
  end = std::max(-far, std::min(end, far));
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  // With a negative step, the start is clamped to [0, dim - 1]; an end of -1 is before the first element.
  const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  start = std::min(std::max<int64_t>(0, start), high);
  end = std::max(low, std::min(end, high));
  AxisRange r{start, 0, step};
  if (step > 0 && end > start) r.count = (end - start - 1) / step + 1;
  if (step < 0 && start > end) r.count = (start - end - 1) / (step == INT64_MIN ? INT64_MAX : -step) + 1;
  return r;
}

// CountForward and CountBackward return the number of elements of a slice with a positive or negative step as
// an expression. The number is unknown if `start` or `end` is an expression that may be negative.
Dim CountForward(const Dim& start, const Dim& end, const Dim& step, const Dim& dim) {
  Dim from, to;
  if (start.NonNegative())
    from = start;
  else if (start.known())
    from = Max(0, dim + start);
  if (end.known() && end.value() >= kToEnd)
    to = dim;
  else if (end.NonNegative())
    to = Min(end, dim);
  else if (end.known())
    to = dim + end;
  return Max(0, CeilDiv(to - from, step));
}

Dim CountBackward(const Dim& start, const Dim& end, const Dim& step, const Dim& dim) {
  Dim from, to;
  if (start.Is(-1) || (start.known() && start.value() >= kToEnd))
    from = dim - 1;
  else if (start.NonNegative())
    from = Min(start, dim - 1);
  else if (start.known())
    from = Min(Max(0, dim + start), dim - 1);
  if (end.NonNegative())
    to = end;
  else if (end.known() && end.value() <= -kToEnd)
    to = -1;
  else if (end.known())
    to = Max(-1, dim + end);
  return Max(0, CeilDiv(from - to, Dim(0) - step));
}

Result<Dim> Sliced(const Dim& start, const Dim& end, const Dim& step, const Dim& dim) {
  if (step.Is(0)) return InvalidModel("a step is 0");
  if (start.known() && end.known() && step.known() && dim.known()) {
    TERN_ASSIGN(const AxisRange r, Clamp(start.value(), end.value(), step.value(), dim.value()));
    return Dim(r.count);
  }
  if (!step.known() || step.value() < -kToEnd) return Dim();
  return step.value() > 0 ? CountForward(start, end, step, dim) : CountBackward(start, end, step, dim);
}

Status CheckLengths(size_t starts, size_t ends, size_t axes, size_t steps) {
  if (starts == ends && starts == axes && starts == steps) return {};
  return InvalidModel("starts, ends, axes and steps have ", starts, ", ", ends, ", ", axes, " and ", steps,
                      " entries, but must have the same number");
}

// Returns the content of an input. If the input has no content, returns n unknown elements. If the input is
// absent, returns n elements `absent`.
Content ContentOr(const InferContext& c, std::string_view port, size_t n, const Dim& absent) {
  if (auto content = c.ContentOf(port)) return *content;
  return Content(n, c.Has(port) ? Dim() : absent);
}

void PassContent(InferContext& c, const Dim& start, const Dim& end, const Dim& step) {
  const auto x = c.ContentOf("x");
  if (!x || c.ShapeOf("x").rank() != 1 || !start.known() || !end.known() || !step.known()) return;
  const auto r = Clamp(start.value(), end.value(), step.value(), static_cast<int64_t>(x->size()));
  Content out;
  for (int64_t i = 0; r.ok() && i < r->count; ++i)
    out.push_back((*x)[static_cast<size_t>(r->start + i * r->step)]);
  c.OutContent("y", std::move(out));
}

Status Infer(const Slice&, InferContext& c) {
  for (const char* port : {"starts", "ends", "axes", "steps"}) TERN_TRY(RequireVector(c, port));
  const Shape& x = c.ShapeOf("x");
  c.Out("y", c.TypeOf("x"), x.ranked ? Shape(std::vector<Dim>(x.dims.size())) : Shape());
  const auto given_starts = c.ContentOf("starts"), given_ends = c.ContentOf("ends");
  int n = given_starts ? static_cast<int>(given_starts->size())
          : given_ends ? static_cast<int>(given_ends->size())
                       : -1;
  if (n < 0) n = std::max(KnownLength(c.ShapeOf("starts")), KnownLength(c.ShapeOf("ends")));
  const auto given_axes = c.LongsOf("axes");
  if (!x.ranked || n < 0 || (c.Has("axes") && !given_axes)) return {};
  const auto count = static_cast<size_t>(n);
  const Content starts = ContentOr(c, "starts", count, 0), ends = ContentOr(c, "ends", count, 0);
  const Content steps = ContentOr(c, "steps", count, 1);
  const auto axes = given_axes.value_or(FirstAxes(count));
  TERN_TRY(CheckLengths(starts.size(), ends.size(), axes.size(), steps.size()));
  TERN_ASSIGN(const auto normal, NormalizeAxes(axes, x.rank()));
  std::vector<Dim> dims = x.dims;
  for (size_t i = 0; i < count; ++i) {
    Dim& d = dims[static_cast<size_t>(normal[i])];
    TERN_ASSIGN(d, Sliced(starts[i], ends[i], steps[i], d));
  }
  c.Out("y", c.TypeOf("x"), Shape(std::move(dims)));
  if (count == 1) PassContent(c, starts[0], ends[0], steps[0]);
  if (auto content = c.ContentOf("x"); content && count == 0) c.OutContent("y", *content);
  return {};
}

Status Reference(const Slice&, EvalContext& c) {
  const Tensor& x = c.In("x");
  const auto starts = c.Longs("starts"), ends = c.Longs("ends");
  const auto axes = c.Has("axes") ? c.Longs("axes") : FirstAxes(starts.size());
  const auto steps = c.Has("steps") ? c.Longs("steps") : std::vector<int64_t>(starts.size(), 1);
  TERN_TRY(CheckLengths(starts.size(), ends.size(), axes.size(), steps.size()));
  TERN_ASSIGN(const auto normal, NormalizeAxes(axes, x.rank()));
  Dims dims = x.dims(), strides = ContiguousStrides(dims);
  int64_t offset = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto a = static_cast<size_t>(normal[i]);
    TERN_ASSIGN(const AxisRange r, Clamp(starts[i], ends[i], steps[i], dims[a]));
    offset += r.start * strides[a];
    strides[a] = r.count > 1 ? strides[a] * r.step : 0;
    dims[a] = r.count;
  }
  Tensor& y = c.Out("y", dims);
  CopyElements(x, {offset, strides}, y, {0, ContiguousStrides(dims)}, dims);
  return {};
}

// The axes can be renamed if the input `axes` is constant. If it is absent, the number of starts must be
// known.
std::optional<AxisMap> SliceAxes(const Node& node) {
  const Shape& starts = node.input(1)->type.shape;
  const bool known =
      node.input(3) ? IntsOf(node.input(3)).has_value() : starts.rank() == 1 && starts[0].known();
  return known ? FirstOperandAxes(node) : std::nullopt;
}
void RenameSlice(const Node& node, AxisRenaming& r) {
  const auto count = [&] { return static_cast<size_t>(node.input(1)->type.shape[0].value()); };
  r.SetInput(3, r.Moved(node.input(3) ? *IntsOf(node.input(3)) : FirstAxes(count())));
}

std::vector<int64_t> LongsOr(const StaticNode& n, size_t input, std::vector<int64_t> otherwise) {
  return n.Has(input) ? ToLongs(*n.Known(input)) : std::move(otherwise);
}

std::optional<std::vector<int64_t>> SlicesOfSlice(const StaticNode& n) {
  for (size_t i = 1; i < 5; ++i)
    if (n.Has(i) && !n.Known(i)) return std::nullopt;
  const Dims &dims = n.inputs[0].dims, strides = ContiguousStrides(dims), &piece = n.outputs[0].dims;
  const auto rank = static_cast<int64_t>(dims.size());
  const auto starts = ToLongs(*n.Known(1));
  const auto axes = LongsOr(n, 3, FirstAxes(starts.size()));
  const auto steps = LongsOr(n, 4, std::vector<int64_t>(starts.size(), 1));
  if (axes.size() != starts.size() || steps.size() != starts.size()) return std::nullopt;
  int64_t at = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + rank : axes[i]);
    if (steps[i] != 1 || axis >= dims.size()) return std::nullopt;
    const int64_t start = starts[i] < 0 ? starts[i] + dims[axis] : starts[i];
    at += std::clamp<int64_t>(start, 0, dims[axis]) * strides[axis];
  }
  if (CountOf(piece) == 0 || !Contiguous(dims, piece)) return std::nullopt;
  return std::vector<int64_t>{at};
}

}  // namespace

TERN_OP(Slice) {
  return OpDef::Of<Slice>(
             "x[starts:ends:steps] along axes; negative starts and ends count from the end; starts and ends out of range are clamped")
      .In("x", kAnyType)
      .Setting("starts", kIndices)
      .Setting("ends", kIndices)
      .OptSetting("axes", kIndices)
      .OptSetting("steps", kIndices)
      .Out("y", kAnyType)
      .Moves({.amount = Movement::Amount::kFewer}, SlicesOfSlice)
      .Batch(No{"the outermost dim may be sliced"})
      .Axes(SliceAxes, RenameSlice)
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
