// ConcatFromSequence and SplitToSequence: convert between a tensor and a sequence of tensors.
#include "ir/eval_context.h"
#include "ir/infer_context.h"
#include "ops/control/stack.h"

namespace tern {
namespace {

struct ConcatFromSequence {
  int64_t axis = 0;
  bool new_axis = false;
  template <class V> void Visit(V& v) {
    v("axis", axis, "axis to concatenate along");
    v("new_axis", new_axis, "stack along a new axis instead of concatenating along an existing one");
  }
};

Status InferConcat(const ConcatFromSequence& op, InferContext& c) {
  const Type& in = c.In("sequence");
  Type out = in.element ? *in.element : Type();
  if (out.shape.ranked) {
    const int rank = out.shape.rank() + op.new_axis;
    TERN_ASSIGN(int axis, NormalizeAxis(op.axis, rank));
    if (op.new_axis)
      out.shape.dims.insert(out.shape.dims.begin() + axis, Dim::Unknown());
    else
      out.shape.dims[static_cast<size_t>(axis)] = Dim::Unknown();
  }
  c.Out("y", out);
  return {};
}

// Splits the tensors into slices along the axis: [2,3] and [1,3] with axis 0 become three slices [3].
// Stacking the slices concatenates the tensors.
Status CollectSlices(const DatumList& items, int axis, DatumList& slices) {
  const Tensor& first = items.front().tensor;
  for (const Datum& item : items) {
    Dims a = item.tensor.dims(), b = first.dims();
    if (a.size() == b.size()) a[static_cast<size_t>(axis)] = b[static_cast<size_t>(axis)] = 0;
    if (a != b || item.tensor.dtype() != first.dtype())
      return InvalidArgument("cannot join ", first.Describe(), " and ", item.tensor.Describe(),
                             " along axis ", axis);
    const Tensor x = item.tensor.Contiguous();
    for (int64_t i = 0; i < x.dim(axis); ++i) slices.emplace_back(TakeSlice(x, axis, i));
  }
  return {};
}

Status RunConcat(const ConcatFromSequence& op, EvalContext& c) {
  const Datum& in = c.InDatum("sequence");
  if (!in.is_sequence() || in.sequence->empty()) return InvalidArgument("cannot join ", in.Describe());
  for (const Datum& item : *in.sequence)
    if (!item.is_tensor()) return InvalidArgument("cannot join ", item.Describe());
  const Tensor& first = in.sequence->front().tensor;
  TERN_ASSIGN(int axis, NormalizeAxis(op.axis, first.rank() + op.new_axis));
  DatumList slices;
  if (op.new_axis)
    slices = *in.sequence;
  else
    TERN_TRY(CollectSlices(*in.sequence, axis, slices));
  if (slices.empty()) {
    c.SetOut("y", Datum(first.Clone()));
    return {};
  }
  TERN_ASSIGN(Tensor y, StackSlices(slices, axis, Type()));
  c.SetOut("y", std::move(y));
  return {};
}

struct SplitToSequence {
  int64_t axis = 0;
  bool keep_dims = true;
  template <class V> void Visit(V& v) {
    v("axis", axis, "axis to split along");
    v("keep_dims", keep_dims, "if sizes is absent, keep the axis with size 1");
  }
};

Status InferSplit(const SplitToSequence& op, InferContext& c) {
  Type element = c.In("x");
  if (element.shape.ranked) {
    TERN_ASSIGN(int axis, NormalizeAxis(op.axis, element.shape.rank()));
    auto& dims = element.shape.dims;
    if (c.Has("sizes"))
      dims[static_cast<size_t>(axis)] = Dim::Unknown();
    else if (op.keep_dims)
      dims[static_cast<size_t>(axis)] = 1;
    else
      dims.erase(dims.begin() + axis);
  }
  c.Out("sequence", Type::SequenceOf(element));
  return {};
}

// Returns the lengths of the parts. A vector `sizes` lists them. A scalar `sizes` is the length of each part,
// except that the last part may be shorter. Without `sizes`, each part has length 1.
Result<std::vector<int64_t>> PartSizes(EvalContext& c, int64_t length) {
  if (!c.Has("sizes")) return std::vector<int64_t>(static_cast<size_t>(length), 1);
  const auto given = c.Longs("sizes");
  if (c.In("sizes").rank() == 1) {
    int64_t sum = 0;
    for (int64_t s : given) sum = s < 0 || s > length ? -1 : sum < 0 ? sum : sum + s;
    if (sum != length) return InvalidArgument("sizes [", Join(given, ","), "] do not add up to ", length);
    return given;
  }
  if (given.size() != 1 || given[0] <= 0) return InvalidArgument("the part size must be one positive number");
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < length; at += given[0]) sizes.push_back(std::min(given[0], length - at));
  return sizes;
}

Status RunSplit(const SplitToSequence& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  TERN_ASSIGN(int axis, NormalizeAxis(op.axis, x.rank()));
  TERN_ASSIGN(auto sizes, PartSizes(c, x.dim(axis)));
  const bool drop = !c.Has("sizes") && !op.keep_dims;
  DatumList parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    DatumList slices;
    for (int64_t i = 0; i < size; ++i) slices.emplace_back(TakeSlice(x, axis, at + i));
    at += size;
    if (drop) {
      parts.push_back(slices.front());
      continue;
    }
    Type empty = Type::TensorOf(x.dtype(), Shape::Of(x.dims()));
    TERN_ASSIGN(Tensor part, StackSlices(slices, axis, empty));
    parts.emplace_back(std::move(part));
  }
  c.SetOut("sequence", Datum::SequenceOf(std::move(parts)));
  return {};
}

}  // namespace

TERN_OP(ConcatFromSequence) {
  return OpDef::Of<ConcatFromSequence>("the tensors of a sequence, concatenated along an axis")
      .In("sequence", 0)
      .Out("y", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferConcat)
      .Reference(RunConcat);
}

TERN_OP(SplitToSequence) {
  return OpDef::Of<SplitToSequence>("a tensor split along an axis into a sequence")
      .In("x", kAnyType)
      .OptSetting("sizes", kIndices)
      .Out("sequence", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferSplit)
      .Reference(RunSplit);
}

}  // namespace tern
