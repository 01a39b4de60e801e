// Converts slices.
#include <algorithm>

#include "import/mindir/ops/shape_value.h"

namespace tern::mindir {
namespace {

constexpr int64_t kToEnd = INT64_MAX, kToStart = INT64_MIN + 1;

// Returns the number of elements of input i, a tuple or a vector.
Result<int64_t> CountIn(MindNode& n, int i) {
  if (!n.Has(i)) return n.Bad("input ", i, " is missing");
  const Item& item = n.inputs()[static_cast<size_t>(i)];
  if (item.is(Item::Kind::kTuple)) return static_cast<int64_t>(item.size());
  const Shape& shape = n.In(i)->type.shape;
  if (shape.rank() == 0) return 1;
  if (shape.rank() != 1 || !shape[0].known()) return n.NotYet("the length of input ", i, " is not known");
  return shape[0].value();
}

// StridedSlice: x, begin, end, strides and five masks. Bit i of a mask refers to entry i of begin, end and
// strides.
class StridedSlicer {
 public:
  explicit StridedSlicer(MindNode& node) : n(node), e(node) {}

  Status Convert() {
    TERN_TRY(RequireRank(n, 0, 0));
    TERN_ASSIGN(count_, CountIn(n, 1));
    for (const int i : {2, 3}) {
      TERN_ASSIGN(const int64_t count, CountIn(n, i));
      if (count != count_) return n.Bad("begin has ", count_, " entries, but input ", i, " has ", count);
    }
    if (count_ > 60) return n.Bad("begin has ", count_, " entries");
    strides_ = n.Ints(3, {}, {});
    if (strides_.size() != static_cast<size_t>(count_)) return n.NotYet("strides that the model computes");
    begin_mask_ = n.Int(4, {"begin_mask"});
    end_mask_ = n.Int(5, {"end_mask"});
    ellipsis_mask_ = n.Int(6, {"ellipsis_mask"});
    new_axis_mask_ = n.Int(7, {"new_axis_mask"});
    shrink_axis_mask_ = n.Int(8, {"shrink_axis_mask"});
    TERN_TRY(Plan());
    n.Out(Apply());
    return {};
  }

 private:
  static bool Bit(int64_t mask, int64_t i) { return (mask >> i & 1) != 0; }

  Status Plan() {
    int64_t axis = 0, out = 0, used = 0;
    for (int64_t i = 0; i < count_; ++i) used += !Bit(ellipsis_mask_, i) && !Bit(new_axis_mask_, i);
    for (int64_t i = 0; i < count_; ++i) {
      if (Bit(ellipsis_mask_, i)) {
        const int64_t skipped = n.RankOf(0) - used;
        axis += skipped;
        out += skipped;
      } else if (Bit(new_axis_mask_, i)) {
        new_axes_.push_back(out++);
      } else if (axis >= n.RankOf(0)) {
        return n.Bad("begin has ", count_, " entries for a tensor of rank ", n.RankOf(0));
      } else if (Bit(shrink_axis_mask_, i)) {
        picked_.emplace_back(axis++, i);
      } else {
        AddSlice(i, axis++);
        ++out;
      }
    }
    return {};
  }

  void AddSlice(int64_t i, int64_t axis) {
    const int64_t stride = strides_[static_cast<size_t>(i)];
    const bool backward = stride < 0;
    const auto edge = [&](int input, int64_t mask, int64_t limit) {
      return Bit(mask, i) ? n.b.Ints({limit}) : e.Reshape(ElementOf(n, input, i), {1});
    };
    begins_.push_back(edge(1, begin_mask_, backward ? kToEnd : 0));
    ends_.push_back(edge(2, end_mask_, backward ? kToStart : kToEnd));
    axes_.push_back(axis);
    steps_.push_back(stride);
  }

  Value* Apply() {
    Value* y = n.In(0);
    if (!axes_.empty())
      y = n.b.Op("Slice", {y, e.Concat(begins_, 0), e.Concat(ends_, 0), n.b.Ints(axes_), n.b.Ints(steps_)});
    // Removes the last axis first, so that the indices of the other axes stay valid.
    for (size_t k = picked_.size(); k-- > 0;)
      y = e.Gather(y, ElementOf(n, 1, picked_[k].second), picked_[k].first);
    return new_axes_.empty() ? y : e.Unsqueeze(y, new_axes_);
  }

  MindNode& n;
  Emit e;
  int64_t count_ = 0, begin_mask_ = 0, end_mask_ = 0, ellipsis_mask_ = 0, new_axis_mask_ = 0,
          shrink_axis_mask_ = 0;
  std::vector<int64_t> strides_, axes_, steps_, new_axes_;
  std::vector<Value*> begins_, ends_;
  std::vector<std::pair<int64_t, int64_t>> picked_;  // an axis that is removed, and its entry
};

Status StridedSlice(MindNode& n) { return StridedSlicer(n).Convert(); }

// Inputs: x, begin, size. A size of -1 extends to the end.
Status Slice(MindNode& n) {
  TERN_ASSIGN(const int64_t count, CountIn(n, 1));
  if (n.InputCount() < 3) return n.Bad("the size is missing");
  Emit e(n);
  Value *begin = ShapeValue(n, 1), *size = ShapeValue(n, 2);
  Value* end = nullptr;
  const auto begins = LongsOf(n.inputs()[1]), sizes = LongsOf(n.inputs()[2]);
  if (begins && sizes) {
    if (begins->size() != sizes->size()) return n.Bad("begin and size have different lengths");
    std::vector<int64_t> ends;
    for (size_t i = 0; i < begins->size(); ++i) {
      int64_t sum = 0;
      const bool to_end = (*sizes)[i] < 0 || __builtin_add_overflow((*begins)[i], (*sizes)[i], &sum);
      ends.push_back(to_end ? kToEnd : sum);
    }
    end = n.b.Ints(ends);
  } else {
    end = e.Where(e.Binary("less", size, e.Long(0)), e.Long(kToEnd), e.Add(begin, size));
  }
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(i);
  n.Out(n.b.Op("Slice", {n.In(0), begin, end, n.b.Ints(axes)}));
  return {};
}

// Inputs: x, dim, start, end, step.
Status SliceExt(MindNode& n) {
  if (n.InputCount() < 4) return n.Bad("needs 4 inputs, but has ", n.InputCount());
  n.Out(n.b.Op("Slice", {n.In(0), ShapeValue(n, 2), ShapeValue(n, 3), n.b.Ints({n.Int(1, {})}),
                         n.b.Ints({n.Int(4, {}, 1)})}));
  return {};
}

// Inputs: x, dim, start, length.
Status Narrow(MindNode& n) {
  if (n.InputCount() < 4) return n.Bad("needs 4 inputs, but has ", n.InputCount());
  Emit e(n);
  Value *start = ShapeValue(n, 2), *end = e.Add(start, ShapeValue(n, 3));
  const auto s = LongsOf(n.inputs()[2]), length = LongsOf(n.inputs()[3]);
  if (s && length && s->front() < 0) return n.NotYet("a negative start");
  n.Out(n.b.Op("Slice", {n.In(0), start, end, n.b.Ints({n.Int(1, {})})}));
  return {};
}

// Selects a slice and removes its axis. Inputs: x, dim, index.
Status SelectView(MindNode& n) {
  if (n.InputCount() < 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
  Emit e(n);
  n.Out(e.Gather(n.In(0), e.Reshape(e.Cast(n.In(2), DType::kI64), {}), n.Int(1, {})));
  return {};
}

Status Reverse(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  const auto axes = n.Ints(1, {"axis"}, {});
  const std::vector<int64_t> starts(axes.size(), kToEnd), ends(axes.size(), kToStart), steps(axes.size(), -1);
  n.Out(axes.empty()
            ? n.In(0)
            : n.b.Op("Slice", {n.In(0), n.b.Ints(starts), n.b.Ints(ends), n.b.Ints(axes), n.b.Ints(steps)}));
  return {};
}

// Shifts elements along axes; elements shifted beyond the end reappear at the start. Without axes, the flat
// tensor is shifted.
Status Roll(MindNode& n) {
  TERN_TRY(RequireRank(n, 0, 0));
  Emit e(n);
  auto shifts = n.Ints(1, {"shift", "shifts"}, {}), axes = n.Ints(2, {"axis", "dims"}, {});
  Value* y = n.In(0);
  const bool flat = axes.empty();
  if (flat) {
    y = e.Reshape(y, {-1});
    axes = {0};
  }
  if (axes.size() != shifts.size()) return n.Bad("has ", shifts.size(), " shifts for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t rank = y->type.shape.rank(), axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank)
      return n.Bad("axis ", axes[i], " does not exist in a tensor of rank ", rank);
    const Dim size = y->type.shape[static_cast<int>(axis)];
    if (!size.known()) return n.NotYet("the size of axis ", axis, " is not known");
    if (size.value() == 0) continue;
    const int64_t shift = (shifts[i] % size.value() + size.value()) % size.value();
    if (shift == 0) continue;
    const int64_t cut = size.value() - shift;
    y = e.Concat({e.Slice(y, cut, kToEnd, axis), e.Slice(y, 0, cut, axis)}, axis);
  }
  n.Out(flat ? e.ReshapeTo(y, e.ShapeOf(n.In(0))) : y);
  return {};
}

// Inputs of TensorCopySlices: x, value, begin, end, strides. Replaces a slice of x by a value.
Status CopySlices(MindNode& n) {
  TERN_TRY(Require(n, 0, kNumbers | kBools));
  if (n.InputCount() < 5) return n.Bad("needs 5 inputs, but has ", n.InputCount());
  TERN_ASSIGN(const int64_t count, CountIn(n, 2));
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < count; ++i) axes.push_back(i);
  Emit e(n);
  Value* x = n.In(0);
  // The positions of the slice in the flat tensor.
  Value* all = n.b.Op("Range", {e.Long(0), n.b.Op("Size", {x}), e.Long(1)});
  Value* positions = n.b.Op("Slice", {e.ReshapeTo(all, e.ShapeOf(x)), ShapeValue(n, 2), ShapeValue(n, 3),
                                      n.b.Ints(axes), ShapeValue(n, 4)});
  Value* value = e.Expand(e.Cast(n.In(1), x->type.dtype), e.ShapeOf(positions));
  Value* flat =
      n.b.Op("ScatterElements", {e.Reshape(x, {-1}), e.Reshape(positions, {-1}), e.Reshape(value, {-1})});
  n.Out(e.ReshapeTo(flat, e.ShapeOf(x)));
  return {};
}

}  // namespace

TERN_CONVERTERS(slice) {
  table.Add("TensorCopySlices", CopySlices);
  table.Add("StridedSlice", StridedSlice);
  table.Add("Slice", Slice);
  for (const char* name : {"SliceExt", "SliceExtView"}) table.Add(name, SliceExt);
  for (const char* name : {"Narrow", "NarrowView"}) table.Add(name, Narrow);
  for (const char* name : {"SelectExtView", "SelectView"}) table.Add(name, SelectView);
  table.Add("ReverseV2", Reverse);
  table.Add("Roll", Roll);
}

}  // namespace tern::mindir
