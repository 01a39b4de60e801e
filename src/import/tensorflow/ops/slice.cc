// Converts slices and padding.
#include <algorithm>

#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

// Describes one entry of begin, end and strides of a StridedSlice, as the attributes of the node say.
struct Entry {
  int64_t axis = 0;     // of the input
  bool shrink = false;  // take one element and drop the axis
  int position = 0;     // in begin, end and strides
  bool from_start = false, to_end = false;
};

struct Spec {
  std::vector<Entry> entries;
  std::vector<int64_t> shrunk;    // axes of the input
  std::vector<int64_t> new_axes;  // axes of the result
};

Result<Spec> SpecOf(TfNode& n, int count, int rank) {
  const int64_t begin = n.Int("begin_mask"), end = n.Int("end_mask"), ellipsis = n.Int("ellipsis_mask"),
                added = n.Int("new_axis_mask"), shrink = n.Int("shrink_axis_mask");
  const auto set = [](int64_t mask, int i) { return (mask >> i & 1) != 0; };
  if (count > 62) return n.Bad("a slice of ", count, " axes");
  int used = 0;  // axes of the input that entries name
  for (int i = 0; i < count; ++i) used += !set(ellipsis, i) && !set(added, i);
  if (used > rank) return n.Bad("the slice has ", used, " axes, but the input has ", rank);
  Spec spec;
  int64_t axis = 0, out = 0;
  bool seen = false;
  for (int i = 0; i < count; ++i) {
    if (set(ellipsis, i)) {
      if (seen) return n.Bad("two ellipses");
      seen = true;
      axis += rank - used;
      out += rank - used;
    } else if (set(added, i)) {
      spec.new_axes.push_back(out++);
    } else {
      const bool one = set(shrink, i);
      spec.entries.push_back({axis, one, i, set(begin, i), set(end, i)});
      if (one)
        spec.shrunk.push_back(axis);
      else
        ++out;
      ++axis;
    }
  }
  return spec;
}

// The elements of a vector. Each may be known or unknown.
class Items {
 public:
  Items(TfNode& n, Value* v) : n_(n), v_(v) {
    if (v->is_constant()) known_ = ToLongs(v->constant);
  }
  std::optional<int64_t> Known(int i) const {
    if (static_cast<size_t>(i) < known_.size()) return known_[static_cast<size_t>(i)];
    if (v_->content && static_cast<size_t>(i) < v_->content->size() &&
        (*v_->content)[static_cast<size_t>(i)].known())
      return (*v_->content)[static_cast<size_t>(i)].value();
    return std::nullopt;
  }
  Value* At(int i) const {  // i64[1]
    if (const auto k = Known(i)) return n_.b.Ints({*k});
    return n_.Cast(n_.Slice(v_, 0, i, i + 1), DType::kI64);
  }

 private:
  TfNode& n_;
  Value* v_;
  std::vector<int64_t> known_;
};

Value* Join(TfNode& n, const std::vector<Value*>& parts) {
  return parts.size() == 1 ? parts[0] : n.Concat(parts, 0);
}

Status StridedSlice(TfNode& n) {
  Value* x = n.In(0);
  TERN_ASSIGN(const int own, n.RankOf(x));
  const int rank = own - (n.IsComplex(0) ? 1 : 0);
  const auto& counts = n.In(1)->type.shape;
  if (counts.rank() != 1 || !counts[0].known()) return n.NotYet("the number of sliced axes is unknown");
  TERN_ASSIGN(const Spec spec, SpecOf(n, static_cast<int>(counts[0].value()), rank));
  TERN_ASSIGN(const auto strides, n.Longs(3, "strides"));
  const Items begin(n, n.In(1)), end(n, n.In(2));
  std::vector<Value*> starts, ends;
  std::vector<int64_t> axes, steps;
  std::vector<std::pair<int64_t, Value*>> picks;  // shrunk axes with an unknown index
  for (const Entry& e : spec.entries) {
    if (static_cast<size_t>(e.position) >= strides.size())
      return n.Bad("strides has ", strides.size(), " entries");
    const int64_t step = strides[static_cast<size_t>(e.position)];
    if (step == 0) return n.Bad("a stride is 0");
    const auto known = begin.Known(e.position);
    if (e.shrink && (!known || (own == 1 && x->type.dtype != DType::kString))) {
      picks.emplace_back(e.axis, e.from_start ? n.b.Ints({0}) : begin.At(e.position));
      continue;
    }
    if (e.shrink) {
      const int64_t at = e.from_start ? 0 : *known;
      starts.push_back(n.b.Ints({at}));
      ends.push_back(n.b.Ints({at == -1 ? INT64_MAX : at + 1}));
      steps.push_back(1);
    } else {
      if (e.from_start && e.to_end && step == 1) continue;
      starts.push_back(e.from_start ? n.b.Ints({step > 0 ? 0 : INT64_MAX}) : begin.At(e.position));
      ends.push_back(e.to_end ? n.b.Ints({step > 0 ? INT64_MAX : INT64_MIN}) : end.At(e.position));
      steps.push_back(step);
    }
    axes.push_back(e.axis);
  }
  if (!axes.empty()) x = n.Op("Slice", {x, Join(n, starts), Join(n, ends), n.b.Ints(axes), n.b.Ints(steps)});
  std::vector<int64_t> squeezed = spec.shrunk;
  for (auto it = picks.rbegin(); it != picks.rend(); ++it) {
    x = n.Op("Gather", {x, n.Scalar(it->second)}, {{"axis", it->first}});
    squeezed.erase(std::find(squeezed.begin(), squeezed.end(), it->first));
    for (int64_t& axis : squeezed) axis -= axis > it->first;
  }
  if (!squeezed.empty()) x = n.Squeeze(x, squeezed);
  if (!spec.new_axes.empty()) x = n.Unsqueeze(x, spec.new_axes);
  Edge edge(x);
  edge.complex = n.IsComplex(0);
  n.Out(0, edge);
  return {};
}

// A size of -1 means all remaining elements.
Status Slice(TfNode& n) {
  Value* x = n.In(0);
  TERN_ASSIGN(const int own, n.RankOf(x));
  const int rank = own - (n.IsComplex(0) ? 1 : 0);
  const Items begin(n, n.In(1)), size(n, n.In(2));
  std::vector<Value*> starts, ends;
  std::vector<int64_t> axes;
  for (int i = 0; i < rank; ++i) {
    const auto at = begin.Known(i), length = size.Known(i);
    if (at == 0 && length == -1) continue;
    Value* start = begin.At(i);
    starts.push_back(start);
    if (length == -1) {
      ends.push_back(n.b.Ints({INT64_MAX}));
    } else {
      Value* sum = n.Binary("add", start, size.At(i));
      if (!length) {
        Value* rest = n.Binary("equal", size.At(i), n.b.Ints({-1}));
        const bool positive = n.In(2)->content && (*n.In(2)->content)[static_cast<size_t>(i)].NonNegative();
        if (!positive) sum = n.Op("Where", {rest, n.b.Ints({INT64_MAX}), sum});
      }
      ends.push_back(sum);
    }
    axes.push_back(i);
  }
  Edge edge(axes.empty() ? x : n.Op("Slice", {x, Join(n, starts), Join(n, ends), n.b.Ints(axes)}));
  edge.complex = n.IsComplex(0);
  n.Out(0, edge);
  return {};
}

// Converts the pads [rank, 2] of rows (before, after) to Tern's order: all pads before, then all pads after.
Value* Widths(TfNode& n, Value* pads) { return n.Vector(n.Transpose(pads, {1, 0})); }

Value* PermuteRows(TfNode& n, Value* pads, int rank) {
  return n.Op("Gather", {pads, n.b.Ints(import::ChannelsFirstPerm(rank))}, {{"axis", 0}});
}

Status Pad(TfNode& n) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  Value* value = n.InputCount() > 2 ? n.In(2) : nullptr;
  std::vector<Value*> inputs = {nullptr, nullptr};
  if (value) inputs.push_back(value);
  if (n.PrefersChannelsFirst(0)) {
    inputs[0] = n.ChannelsFirst(0);
    inputs[1] = Widths(n, PermuteRows(n, n.In(1), inputs[0]->type.shape.rank()));
    n.OutChannelsFirst(0, n.Op("Pad", inputs));
    return {};
  }
  inputs[0] = n.In(0);
  inputs[1] = Widths(n, n.In(1));
  n.Out(0, n.Op("Pad", inputs));
  return {};
}

// Mirrors the tensor at its ends, including the outermost elements. For example, abc with 2 elements on each
// side becomes ba abc cb.
Value* Symmetric(TfNode& n, Value* x, int64_t axis, int64_t before, int64_t after) {
  const auto part = [&](int64_t start, int64_t end) {
    return n.Op("Slice", {x, n.b.Ints({start}), n.b.Ints({end}), n.b.Ints({axis}), n.b.Ints({-1})});
  };
  std::vector<Value*> parts;
  if (before > 0) parts.push_back(part(before - 1, INT64_MIN));
  parts.push_back(x);
  if (after > 0) parts.push_back(part(INT64_MAX, -after - 1));
  return parts.size() == 1 ? x : n.Concat(parts, axis);
}

Status MirrorPad(TfNode& n) {
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  if (n.Text("mode") == "REFLECT") {
    if (n.PrefersChannelsFirst(0)) {
      Value* x = n.ChannelsFirst(0);
      n.OutChannelsFirst(0, n.Op("Pad", {x, Widths(n, PermuteRows(n, n.In(1), x->type.shape.rank()))},
                                 {{"mode", "reflect"}}));
      return {};
    }
    n.Out(0, n.Op("Pad", {n.In(0), Widths(n, n.In(1))}, {{"mode", "reflect"}}));
    return {};
  }
  TERN_ASSIGN(const auto pads, n.Longs(1, "paddings"));
  Value* x = n.In(0);
  for (size_t i = 0; i + 1 < pads.size(); i += 2)
    x = Symmetric(n, x, static_cast<int64_t>(i / 2), pads[i], pads[i + 1]);
  n.Out(0, x);
  return {};
}

}  // namespace

TERN_CONVERTERS(slice) {
  table.Add("StridedSlice", StridedSlice);
  table.Add("Slice", Slice);
  for (const char* op : {"Pad", "PadV2"}) table.Add(op, Pad);
  table.Add("MirrorPad", MirrorPad);
}

}  // namespace tern::tensorflow
