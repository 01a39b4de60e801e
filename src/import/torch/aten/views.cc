#include "import/torch/aten/views.h"

#include <limits>
#include <set>

#include "import/torch/aten/emit.h"

namespace tern::torch {
namespace {

// These operators only change the dims. The base and the view have the same elements in the same order, so a
// write to the view becomes a write of the reshaped value to the base.
bool OnlyReshapes(const std::string& op) {
  static const std::set<std::string> kOps = {
      "aten::view",       "aten::_unsafe_view", "aten::reshape", "aten::unsqueeze",  "aten::squeeze",
      "aten::flatten",    "aten::unflatten",    "aten::view_as", "aten::detach",     "aten::alias",
      "aten::lift_fresh", "aten::contiguous",   "aten::to",      "aten::reshape_as", "aten::ravel"};
  return kOps.count(op) > 0;
}

// These operators return a view only if the elements of their input are in row-major order.
bool ViewsIfDense(const std::string& op) {
  return op == "aten::reshape" || op == "aten::contiguous" || op == "aten::flatten" ||
         op == "aten::reshape_as" || op == "aten::ravel";
}

const Arg& ArgOf(const BoundCall& call, std::string_view name) {
  static const Arg* none = new Arg();
  const int i = call.schema->Find(name);
  return i < 0 ? *none : call.args[static_cast<size_t>(i)];
}

// Returns whether the view of a dense tensor is dense too (TensorVar::dense).
bool StaysDense(const BoundCall& call) {
  if (OnlyReshapes(call.schema->name)) return true;
  const std::string& op = call.schema->name;
  const bool part = op == "aten::slice" || op == "aten::select" || op == "aten::narrow" ||
                    op == "aten::split" || op == "aten::chunk" || op == "aten::unbind" ||
                    op == "aten::split_with_sizes";
  const Arg &dim = ArgOf(call, "dim"), &step = ArgOf(call, "step");
  return part && dim.known() && dim.integer == 0 && (step.none() || (step.known() && step.integer == 1));
}

using Put = std::function<Result<Value*>(Value* base, Value* view)>;

Put PutFor(TorchContext& context, const BoundCall& call) {
  const std::string& op = call.schema->name;
  const Place place = call.place;
  const auto builder = [&context, place] {
    Builder b(context.graph());
    b.At(place.name, place.origin);
    return b;
  };
  if (OnlyReshapes(op))
    return [builder](Value* base, Value* view) -> Result<Value*> {
      Builder b = builder();
      Value* y = Emit(b).ReshapeTo(view, Emit(b).Shape(base));
      TERN_TRY(Status(b.status()));
      return y;
    };
  const Arg dim = ArgOf(call, "dim");
  if (op == "aten::slice" && dim.known() && ArgOf(call, "step").known()) {
    const Arg start = ArgOf(call, "start"), end = ArgOf(call, "end");
    const int64_t step = ArgOf(call, "step").integer;
    return [=](Value* base, Value* view) -> Result<Value*> {
      Builder b = builder();
      Value* y = PutSlice(b, base, view, dim.integer, start, end, step);
      TERN_TRY(Status(b.status()));
      return y;
    };
  }
  if (op == "aten::select" && dim.known()) {
    const Arg index = ArgOf(call, "index");
    return [=](Value* base, Value* view) -> Result<Value*> {
      Builder b = builder();
      Emit e(b);
      const int rank = base->type.shape.rank();
      Value* part = b.Op("Unsqueeze", {view, b.Ints({dim.integer})});
      Arg end = index.known() && index.integer == -1 ? Arg::None() : Arg::Int(index.integer + 1);
      if (!index.known()) end = Arg::Computed(e.Add(index.value, e.Long(1)));
      const int64_t axis = dim.integer < 0 && rank > 0 ? dim.integer + rank : dim.integer;
      Value* y = PutSlice(b, base, part, axis, index, end, 1);
      TERN_TRY(Status(b.status()));
      return y;
    };
  }
  if (op == "aten::transpose" || op == "aten::t" || op == "aten::swapaxes" || op == "aten::mT" ||
      op == "aten::numpy_T")
    return [&context, call](Value*, Value* view) -> Result<Value*> {  // the operator is its own inverse
      BoundCall back = call;
      back.args[0] = Arg::Of(TorchContext::NewTensor(view));
      TERN_ASSIGN(auto results, Convert(context, back));
      Builder b(context.graph());
      return context.Read(*results[0].tensor, b);
    };
  return nullptr;
}

// Computes result `item` of the call again, with another value of argument `index`.
Result<Value*> Recompute(TorchContext& context, BoundCall call, size_t index, size_t result, int64_t item,
                         Value* base) {
  call.args[index] = Arg::Of(TorchContext::NewTensor(base));
  TERN_ASSIGN(auto results, Convert(context, call));
  const Arg& found = results[result];
  const TensorPtr tensor = item < 0 ? found.tensor : found.items[static_cast<size_t>(item)].tensor;
  Builder b(context.graph());
  return context.Read(*tensor, b);
}

Status LinkOne(TorchContext& context, const BoundCall& call, size_t index, size_t result, int64_t item,
               Arg& view) {
  const TensorPtr& base = call.args[index].tensor;
  Builder b(context.graph());
  TERN_ASSIGN(Value * old, context.Read(*base, b));
  TERN_ASSIGN(Value * fresh, context.Read(*view.tensor, b));
  if (fresh->type.dtype != old->type.dtype || view.tensor->complex != base->complex) return {};  // a copy
  if (ViewsIfDense(call.schema->name) && !base->dense) return {};
  if (fresh == old && OnlyReshapes(call.schema->name)) {
    view = call.args[index];
    return {};
  }
  ViewOf how;
  how.base = base;
  BoundCall again = call;
  again.args[index] = Arg::None();  // Recompute sets it; `how.base` keeps the base
  how.apply = [&context, again, index, result, item](Value* value) {
    return Recompute(context, again, index, result, item, value);
  };
  how.put = item < 0 ? PutFor(context, again) : nullptr;
  const bool complex = view.tensor->complex;
  auto linked = std::make_shared<TensorVar>(fresh, std::move(how));
  linked->dense = base->dense && StaysDense(call);
  linked->complex = complex;
  view = Arg::Of(std::move(linked));
  return {};
}

// Returns the index of the argument that shares memory with a result, or -1.
int SourceOf(const Schema& s, const Parameter& result) {
  if (result.alias.empty()) return -1;
  for (size_t i = 0; i < s.parameters.size(); ++i)
    if (s.parameters[i].alias == result.alias) return static_cast<int>(i);
  return -1;
}

}  // namespace

Status LinkViews(TorchContext& context, const BoundCall& call, std::vector<Arg>& results) {
  for (size_t r = 0; r < results.size(); ++r) {
    const int source = SourceOf(*call.schema, call.schema->returns[r]);
    if (source < 0 || !call.args[static_cast<size_t>(source)].is_tensor()) continue;
    const auto index = static_cast<size_t>(source);
    if (results[r].is_tensor()) TERN_TRY(LinkOne(context, call, index, r, -1, results[r]));
    for (size_t i = 0; i < results[r].items.size(); ++i)
      if (results[r].items[i].is_tensor())
        TERN_TRY(LinkOne(context, call, index, r, static_cast<int64_t>(i), results[r].items[i]));
  }
  return {};
}

Value* PutSlice(Builder& b, Value* base, Value* part, int64_t dim, const Arg& start, const Arg& end,
                int64_t step) {
  Emit e(b);
  constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
  const bool from_start = start.none() || (start.known() && start.integer == 0);
  const tern::Shape &full = base->type.shape, &piece = part->type.shape;
  const int rank = full.rank();
  const bool inside = rank >= 0 && piece.rank() == rank && dim >= -rank && dim < rank;
  const bool all = inside && full[static_cast<int>(dim)] == piece[static_cast<int>(dim)];
  if (all || (from_start && end.known() && end.integer == kEnd && step == 1)) return part;
  Value* first = IntVector(b, {start.none() ? Arg::Int(0) : start});
  Value* axis = b.Ints({dim});
  if (step == 1) {
    std::vector<Value*> parts;
    if (!from_start) parts.push_back(b.Op("Slice", {base, b.Ints({0}), first, axis}));
    parts.push_back(part);
    if (!end.none() && !(end.known() && end.integer == kEnd)) {
      Value* last = IntVector(b, {end});
      parts.push_back(b.Op("Slice", {base, last, b.Ints({kEnd}), axis}));
    }
    return e.Concat(parts, dim);
  }
  // For another step, slices the positions along the dim, and scatters the part to the positions found.
  Value* positions = e.Iota(ScalarValue(b, SizeOf(b, base, dim), DType::kI64));
  Value* last = IntVector(b, {end.none() ? Arg::Int(kEnd) : end});
  Value* at = b.Op("Slice", {positions, first, last, b.Ints({0}), b.Ints({step})});
  std::vector<int64_t> column(static_cast<size_t>(std::max(rank, 1)), 1);
  column[static_cast<size_t>(dim < 0 ? dim + rank : dim)] = -1;
  Value* indices = e.Expand(e.Reshape(at, column), e.Shape(part));
  return b.Op("ScatterElements", {base, indices, part}, {{"axis", dim}});
}

}  // namespace tern::torch
