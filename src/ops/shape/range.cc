// Range: start, start + delta, … up to but not including limit.
#include <cmath>

#include "ops/shape/axes.h"

namespace tern {
namespace {

struct Range : NoAttrs {};

Result<int64_t> CountOfLongs(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return InvalidArgument("delta is 0, but must differ from 0");
  if (delta > 0 ? start >= limit : start <= limit) return int64_t{0};
  const uint64_t span = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
  const uint64_t count = (span - 1) / step + 1;
  if (count > uint64_t{INT64_MAX}) return ResourceExhausted("a range of ", count, " elements is too long");
  return static_cast<int64_t>(count);
}

Result<int64_t> CountOfDoubles(double start, double limit, double delta) {
  if (delta == 0) return InvalidArgument("delta is 0, but must differ from 0");
  const double count = std::ceil((limit - start) / delta);
  if (std::isnan(count) || count >= 9e18)
    return InvalidArgument("cannot count the elements for start ", start, ", limit ", limit, ", delta ",
                           delta);
  return static_cast<int64_t>(std::max(0.0, count));
}

Result<int64_t> CountFor(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  for (const Tensor* t : {&start, &limit, &delta})
    if (t->size() != 1)
      return InvalidArgument("start, limit and delta must have one element each, got ", t->Describe());
  if (IsInt(start.dtype())) return CountOfLongs(LoadLong(start, 0), LoadLong(limit, 0), LoadLong(delta, 0));
  return CountOfDoubles(LoadDouble(start, 0), LoadDouble(limit, 0), LoadDouble(delta, 0));
}

// Returns the number of elements as an expression. start and limit may be symbolic, but delta must be a
// number.
Dim SymbolicCount(const std::optional<Content>& start, const std::optional<Content>& limit,
                  const std::optional<Content>& delta) {
  for (const auto* c : {&start, &limit, &delta})
    if (!*c || (*c)->size() != 1) return {};
  const Dim& d = (*delta)[0];
  if (!d.known() || d.Is(0)) return {};
  const Dim span = (*limit)[0] - (*start)[0];
  return Max(0, d.value() > 0 ? CeilDiv(span, d) : CeilDiv(Dim(0) - span, Dim(0) - d));
}

Status Infer(const Range&, InferContext& c) {
  const DType dtype = c.TypeOf("start");
  const Tensor *start = c.Constant("start"), *limit = c.Constant("limit"), *delta = c.Constant("delta");
  if (start && limit && delta) {
    TERN_ASSIGN(const int64_t count, CountFor(*start, *limit, *delta));
    c.Out("y", dtype, Shape::Of({count}));
    if (!IsInt(dtype) || count > 1024) return {};
    Content content;
    for (int64_t i = 0; i < count; ++i) content.push_back(LoadLong(*start, 0) + i * LoadLong(*delta, 0));
    c.OutContent("y", std::move(content));
    return {};
  }
  const Dim count = SymbolicCount(c.ContentOf("start"), c.ContentOf("limit"), c.ContentOf("delta"));
  c.Out("y", dtype, Shape({count}));
  if (!count.known() || count.value() > 1024) return {};
  Content content;
  for (int64_t i = 0; i < count.value(); ++i)
    content.push_back((*c.ContentOf("start"))[0] + Dim(i) * (*c.ContentOf("delta"))[0]);
  c.OutContent("y", std::move(content));
  return {};
}

Status Reference(const Range&, EvalContext& c) {
  const Tensor &start = c.In("start"), &delta = c.In("delta");
  TERN_ASSIGN(const int64_t count, CountFor(start, c.In("limit"), delta));
  Tensor& y = c.Out("y", {count});
  if (IsInt(start.dtype())) {
    const auto first = static_cast<uint64_t>(LoadLong(start, 0)),
               step = static_cast<uint64_t>(LoadLong(delta, 0));
    for (int64_t i = 0; i < count; ++i)
      StoreLong(y, i, static_cast<int64_t>(first + static_cast<uint64_t>(i) * step));
    return {};
  }
  const double first = LoadDouble(start, 0), step = LoadDouble(delta, 0);
  for (int64_t i = 0; i < count; ++i) StoreDouble(y, i, first + static_cast<double>(i) * step);
  return {};
}

}  // namespace

TERN_OP(Range) {
  return OpDef::Of<Range>("the numbers start, start + delta, … that are before limit")
      .Setting("start", kNumbers)
      .Setting("limit", kNumbers)
      .Setting("delta", kNumbers)
      .Out("y", kNumbers)
      .Flops(No{"its arithmetic is negligible"})
      .Batch(No{"no input has items"})
      .Axes(No{"the result has one axis, and no operand has axes"})
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
