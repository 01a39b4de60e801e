#include "import/torch/script/frozen.h"

#include <set>

#include "import/torch/aten/scalar.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxFrozenDepth = 50;
constexpr int64_t kMaxParts = 1 << 20;  // parts of a value that is copied
constexpr int64_t kMaxZeros = 1 << 20;  // elements of a placeholder (see ZerosLike)

DType DTypeOf(const Arg& number) {
  if (number.kind == Arg::Kind::kBool) return DType::kBool;
  return number.kind == Arg::Kind::kInt ? DType::kI64 : DType::kF32;
}

// `left` is the number of parts that may still be copied. A part that occurs twice is copied twice.
Result<Frozen> FreezeDeep(Interpreter& in, const Item& item, bool with_object, int64_t& left, int depth = 0) {
  if (--left < 0) return in.NotYet("a value contains more than ", kMaxParts, " values");
  if (depth > kMaxFrozenDepth) return in.NotYet("a value is nested more than ", kMaxFrozenDepth, " deep");
  Frozen frozen;
  frozen.item = item;
  if (item.tensor()) {
    Builder b = in.NewBuilder("read");
    TERN_ASSIGN(frozen.value, in.context.Read(*item.arg.tensor, b));
    TERN_TRY(Status(b.status()));
    return frozen;
  }
  if (!frozen.container() || (item.Is(Item::Kind::kObject) && !with_object)) return frozen;
  frozen.value = item.cell->sequence;
  frozen.keys = item.cell->keys;
  for (const Item& part : item.cell->items) {
    TERN_ASSIGN(Frozen copy, FreezeDeep(in, part, false, left, depth + 1));
    frozen.items.push_back(std::move(copy));
  }
  for (const auto& [name, part] : item.cell->attributes) {
    frozen.keys.emplace_back(Arg::String(name));
    TERN_ASSIGN(Frozen copy, FreezeDeep(in, part, false, left, depth + 1));
    frozen.items.push_back(std::move(copy));
  }
  return frozen;
}

bool SameKeys(const Frozen& a, const Frozen& b) {
  if (a.keys.size() != b.keys.size()) return false;
  for (size_t i = 0; i < a.keys.size(); ++i) {
    const Arg &x = a.keys[i].arg, &y = b.keys[i].arg;
    if (x.kind != y.kind || x.text != y.text || x.AsDouble() != y.AsDouble()) return false;
  }
  return true;
}

bool AllTensors(const Frozen& list) {
  for (const Frozen& item : list.items)
    if (!item.item.tensor()) return false;
  return true;
}

Item MakeContainer(Interpreter& in, const Frozen& like, std::vector<Item> items) {
  Cell* cell = in.heap.New(like.item.kind, like.item.cell->type);
  cell->path = like.item.cell->path;
  if (like.item.Is(Item::Kind::kObject)) {
    for (size_t i = 0; i < items.size(); ++i) cell->attributes[like.keys[i].arg.text] = std::move(items[i]);
  } else {
    cell->keys = like.keys;
    cell->items = std::move(items);
  }
  return Item::Of(like.item.kind, cell);
}

}  // namespace

Result<Item> MergeContents(Interpreter& in, const Frozen& a, const Frozen& b, const MergeOne& merge_one) {
  const bool equal = !a.value && !b.value && a.items.size() == b.items.size();
  if (equal && SameKeys(a, b)) {
    std::vector<Item> items;
    for (size_t i = 0; i < a.items.size(); ++i) {
      TERN_ASSIGN(Item merged, Merge(in, a.items[i], b.items[i], merge_one));
      items.push_back(std::move(merged));
    }
    return MakeContainer(in, a, std::move(items));
  }
  const bool sequences = a.item.Is(Item::Kind::kList) && AllTensors(a) && AllTensors(b) &&
                         (a.value || b.value || !a.items.empty() || !b.items.empty());
  if (!sequences) return Item::Conflict("has other contents in the two branches of a condition on tensors");
  TERN_ASSIGN(Value * value, merge_one(a, b));
  return LeafItem(in, a, value);
}

Result<Frozen> Freeze(Interpreter& in, const Item& item, bool with_object) {
  int64_t left = kMaxParts;
  return FreezeDeep(in, item, with_object, left);
}

Result<Frozen> FreezeCell(Interpreter& in, Cell* cell) {
  int64_t left = kMaxParts;
  return FreezeDeep(in, Item::Of(cell->kind, cell), true, left);
}

bool SameLeaf(const Frozen& a, const Frozen& b) {
  if (a.item.kind != b.item.kind) return false;
  if (!a.item.Is(Item::Kind::kArg)) {
    if (a.item.Is(Item::Kind::kEnum))
      return a.item.cell->type == b.item.cell->type && a.item.text == b.item.text;
    return a.item.cell == b.item.cell && a.item.function == b.item.function && a.item.text == b.item.text;
  }
  const Arg &x = a.item.arg, &y = b.item.arg;
  if (x.kind != y.kind) return false;
  if (x.is_tensor()) return x.tensor == y.tensor;
  if (x.kind == Arg::Kind::kFloat && !x.value && !y.value)
    return x.real == y.real || (x.real != x.real && y.real != y.real);
  return x.value == y.value && x.integer == y.integer && x.text == y.text && x.dtype == y.dtype &&
         x.format == y.format;
}

Result<Item> Merge(Interpreter& in, const Frozen& a, const Frozen& b, const MergeOne& merge_one) {
  if (a.item.Is(Item::Kind::kConflict)) return a.item;
  if (b.item.Is(Item::Kind::kConflict)) return b.item;
  if (!a.container() && SameLeaf(a, b)) return a.item;
  if (a.item.Is(Item::Kind::kUninitialized) || b.item.Is(Item::Kind::kUninitialized))
    return Item::Conflict("has a value in only one branch of a condition on tensors");
  if (a.item.tensor() && b.item.tensor()) {
    if (a.value->type.dtype != b.value->type.dtype)
      return Item::Conflict(StrCat("is ", a.value->type.ToString(), " or ", b.value->type.ToString(),
                                   ", depending on a tensor"));
    TERN_ASSIGN(Value * value, merge_one(a, b));
    return LeafItem(in, a, value);
  }
  if (a.item.number() && b.item.number() && a.item.arg.kind == b.item.arg.kind) {
    TERN_ASSIGN(Value * value, merge_one(a, b));
    return LeafItem(in, a, value);
  }
  if (a.container() && a.item.kind == b.item.kind) {
    // Both branches refer to the same cell. MergeContents merges its contents for all its variables at once.
    if (a.item.cell == b.item.cell) return a.item;
    if (!a.item.Is(Item::Kind::kObject)) return MergeContents(in, a, b, merge_one);
  }
  return Item::Conflict(
      StrCat("is ", a.item.Describe(), " or ", b.item.Describe(), ", depending on a tensor"));
}

namespace {

// `seen` contains the cells that were searched before, so that cycles and shared cells are searched once.
bool HasConflictIn(const Item& item, std::set<const Cell*>& seen, int depth) {
  if (item.Is(Item::Kind::kConflict) || item.Is(Item::Kind::kUninitialized)) return true;
  if (!item.cell || item.Is(Item::Kind::kFunction) || item.Is(Item::Kind::kEnum) || depth > kMaxFrozenDepth)
    return false;
  if (item.Is(Item::Kind::kObject) && depth > 0) return false;
  if (!seen.insert(item.cell).second) return false;
  for (const Item& part : item.cell->items)
    if (HasConflictIn(part, seen, depth + 1)) return true;
  for (const auto& entry : item.cell->attributes)
    if (HasConflictIn(entry.second, seen, depth + 1)) return true;
  return false;
}

}  // namespace

bool HasConflict(const Item& item) {
  std::set<const Cell*> seen;
  return HasConflictIn(item, seen, 0);
}

namespace {

// Returns a placeholder for a tensor that the program never reads. Open dims become 1.
Tensor ZerosLike(const Type& type) {
  Dims dims;
  for (const Dim& d : type.shape.dims) {
    dims.push_back(d.known() ? d.value() : 1);
    if (CheckedCount(dims, type.dtype).value_or(kMaxZeros) >= kMaxZeros) dims.back() = 1;
  }
  return Tensor(type.dtype, dims);
}

// An empty sequence of tensors like those of another list. It is made of a sequence with one tensor, so that
// inference knows the rank of its elements.
Value* EmptySequence(Builder& b, const Frozen& other) {
  const Value* like = other.items.empty() ? other.value : other.items[0].value;
  const Type* type = like ? &like->type : nullptr;
  if (type && type->kind == Type::Kind::kSequence) type = type->element.get();
  if (!type || !type->shape.ranked)
    return b.Op("SequenceEmpty", {}, {{"dtype", type ? type->dtype : DType::kF32}});
  return b.Op("SequenceErase", {b.Op("SequenceConstruct", {b.Const(ZerosLike(*type))})});
}

}  // namespace

Result<Value*> LeafValue(const Frozen& leaf, const Frozen& other, Graph& graph) {
  if (leaf.value) return leaf.value;
  Builder b(graph);
  Value* value = nullptr;
  if (leaf.item.number()) {
    value = ScalarValue(b, leaf.item.arg);
  } else if (leaf.item.Is(Item::Kind::kUninitialized)) {
    if (!other.item.number() && !other.item.tensor())
      return Unsupported("an uninitialized variable becomes ", other.item.Describe(), " in a loop");
    value = b.Const(
        ZerosLike(other.value ? other.value->type : Type::TensorOf(DTypeOf(other.item.arg), Shape::Of({}))));
  } else if (leaf.items.empty()) {
    value = EmptySequence(b, other);
  } else {
    std::vector<Value*> parts;
    for (const Frozen& part : leaf.items) parts.push_back(part.value);
    value = b.Op("SequenceConstruct", parts);
  }
  TERN_TRY(Status(b.status()));
  return value;
}

Item LeafItem(Interpreter& in, const Frozen& like, Value* value) {
  if (like.item.tensor()) {
    TensorPtr tensor = TorchContext::NewTensor(value);
    tensor->complex = like.item.arg.tensor->complex;
    return Item(Arg::Of(std::move(tensor)));
  }
  if (like.item.number()) return Item(Arg::Computed(value));
  Item list = in.NewList({});
  list.cell->sequence = value;
  return list;
}

void ReplaceContents(Interpreter& in, Cell& cell, const Item& from) {
  in.heap.Touch(cell);
  static_cast<Contents&>(cell) = static_cast<const Contents&>(*from.cell);
}

}  // namespace tern::torch::script
