// Operators on lists and tuples.
#include <algorithm>

#include "import/torch/aten/scalar.h"
#include "import/torch/script/builtins.h"

namespace tern::torch::script {
namespace {

constexpr size_t kMaxItems = 1000000;

bool IsList(const CallSite& call, size_t args) {
  return call.args.size() == args && call.args[0].Is(Item::Kind::kList);
}

// Returns the position of an index, which may be negative, or -1 if it is out of range.
int64_t PositionOf(int64_t index, size_t size) {
  const auto n = static_cast<int64_t>(size);
  if (index < 0) index += n;
  return index >= 0 && index < n ? index : -1;
}

Outcome ListLength(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].list_or_tuple()) return NotMine();
  const Cell& cell = *call.args[0].cell;
  if (!cell.sequence) return Done(Item(Arg::Int(static_cast<int64_t>(cell.items.size()))));
  Builder b = in.NewBuilder(call.op);
  Value* length = b.Op("SequenceLength", {cell.sequence});
  TERN_TRY(Status(b.status()));
  return Done(Item(Arg::Computed(length)));
}

// Reads a list at an index that the graph computes, or a list that the graph computes.
Outcome AtComputed(Interpreter& in, const Item& list, const Arg& index) {
  for (const Item& item : list.cell->items)
    if (!item.tensor()) return in.NotYet("a list of ", item.Describe(), " is indexed by a computed number");
  TERN_ASSIGN(Value * sequence, in.SequenceOf(list));
  Builder b = in.NewBuilder("aten::__getitem__");
  Value* element = b.Op("SequenceAt", {sequence, ScalarValue(b, index)});
  TERN_TRY(Status(b.status()));
  return Done(Item(Arg::Of(TorchContext::NewTensor(element))));
}

Outcome ListGetItem(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2 || !call.args[0].list_or_tuple()) return NotMine();
  const Item &list = call.args[0], &index = call.args[1];
  if (!index.number() || index.arg.kind != Arg::Kind::kInt) return in.Bad("an index is ", index.Describe());
  if (list.cell->sequence || index.arg.value) return AtComputed(in, list, index.arg);
  const int64_t at = PositionOf(index.arg.integer, list.cell->items.size());
  if (at < 0)
    return in.Raise(StrCat("index ", index.arg.integer, " of a list of ", list.cell->items.size(), " items"));
  return Done(list.cell->items[static_cast<size_t>(at)]);
}

Outcome ListSetItem(Interpreter& in, const CallSite& call) {
  if (!IsList(call, 3)) return NotMine();
  Cell& cell = *call.args[0].cell;
  if (cell.sequence || !call.args[1].known_int())
    return in.NotYet("an item of a list is assigned at a computed position");
  const int64_t at = PositionOf(call.args[1].arg.integer, cell.items.size());
  if (at < 0)
    return in.Raise(StrCat("index ", call.args[1].arg.integer, " of a list of ", cell.items.size()));
  in.heap.Touch(cell);
  cell.items[static_cast<size_t>(at)] = call.args[2];
  return Nothing();
}

Outcome Append(Interpreter& in, const CallSite& call) {
  if (!IsList(call, 2)) return NotMine();
  Cell& cell = *call.args[0].cell;
  in.heap.Touch(cell);
  if (cell.sequence) {
    Builder b = in.NewBuilder(call.op);
    TERN_ASSIGN(Value * element, in.ValueOf(call.args[1].arg, b));
    cell.sequence = b.Op("SequenceInsert", {cell.sequence, element});
    TERN_TRY(Status(b.status()));
    return Done(call.args[0]);
  }
  if (cell.items.size() >= kMaxItems) return in.NotYet("a list has more than ", kMaxItems, " items");
  cell.items.push_back(call.args[1]);
  return Done(call.args[0]);
}

// Returns the cell of a list that can be changed at import time.
Result<Cell*> Changeable(Interpreter& in, const CallSite& call) {
  Cell* cell = call.args[0].cell;
  if (cell->sequence) return in.NotYet(call.op, " of a list whose length depends on the inputs");
  in.heap.Touch(*cell);
  return cell;
}

Outcome Insert(Interpreter& in, const CallSite& call) {
  if (!IsList(call, 3) || !call.args[1].known_int()) return NotMine();
  TERN_ASSIGN(Cell * cell, Changeable(in, call));
  const auto size = static_cast<int64_t>(cell->items.size());
  int64_t at = call.args[1].arg.integer;
  if (at < 0) at += size;
  cell->items.insert(cell->items.begin() + std::clamp<int64_t>(at, 0, size), call.args[2]);
  return Nothing();
}

Outcome Extend(Interpreter& in, const CallSite& call) {
  if (!IsList(call, 2) || !call.args[1].list_or_tuple() || call.args[1].cell->sequence) return NotMine();
  TERN_ASSIGN(Cell * cell, Changeable(in, call));
  const std::vector<Item> more = call.args[1].cell->items;
  if (cell->items.size() + more.size() > kMaxItems)
    return in.NotYet("a list has more than ", kMaxItems, " items");
  cell->items.insert(cell->items.end(), more.begin(), more.end());
  return Done(call.args[0]);
}

Outcome Pop(Interpreter& in, const CallSite& call) {
  if (call.args.empty() || !call.args[0].Is(Item::Kind::kList)) return NotMine();
  TERN_ASSIGN(Cell * cell, Changeable(in, call));
  const int64_t index = call.args.size() > 1 && call.args[1].known_int() ? call.args[1].arg.integer : -1;
  const int64_t at = PositionOf(index, cell->items.size());
  if (at < 0) return in.Raise("pop from an empty list");
  const Item item = cell->items[static_cast<size_t>(at)];
  cell->items.erase(cell->items.begin() + at);
  return call.op == "aten::Delete" ? Nothing() : Done(item);
}

Outcome ListClear(Interpreter& in, const CallSite& call) {
  if (!IsList(call, 1)) return NotMine();
  in.heap.Touch(*call.args[0].cell);
  call.args[0].cell->items.clear();
  call.args[0].cell->sequence = nullptr;
  return Nothing();
}

Outcome Reverse(Interpreter& in, const CallSite& call) {
  if (!IsList(call, 1)) return NotMine();
  TERN_ASSIGN(Cell * cell, Changeable(in, call));
  std::reverse(cell->items.begin(), cell->items.end());
  return Nothing();
}

Outcome ListCopy(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].list_or_tuple()) return NotMine();
  Item copy = in.NewList(call.args[0].cell->items);
  copy.cell->sequence = call.args[0].cell->sequence;
  return Done(copy);
}

Result<std::vector<Item>> Sorted(Interpreter& in, const CallSite& call) {
  std::vector<Item> items = call.args[0].cell->items;
  bool numbers = true, texts = true;
  for (const Item& item : items) {
    numbers &= item.number() && item.arg.known();
    texts &= item.string();
  }
  if (!numbers && !texts) return in.NotYet("a list of values that are not known is sorted");
  std::stable_sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
    return texts ? a.arg.text < b.arg.text : a.arg.AsDouble() < b.arg.AsDouble();
  });
  if (call.args.size() > 1 && call.args[1].number() && call.args[1].arg.integer)
    std::reverse(items.begin(), items.end());
  return items;
}

Outcome Sort(Interpreter& in, const CallSite& call) {
  if (call.args.empty() || !call.args[0].Is(Item::Kind::kList)) return NotMine();
  TERN_ASSIGN(std::vector<Item> items, Sorted(in, call));
  if (call.op == "aten::sorted") return Done(in.NewList(std::move(items)));
  TERN_ASSIGN(Cell * cell, Changeable(in, call));
  cell->items = std::move(items);
  return Nothing();
}

Outcome Search(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2 || !call.args[0].list_or_tuple() || call.args[0].cell->sequence) return NotMine();
  const std::vector<Item>& items = call.args[0].cell->items;
  int64_t count = 0, first = -1;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].number() && call.args[1].number() && (!items[i].arg.known() || !call.args[1].arg.known()))
      return in.NotYet(call.op, " of numbers that depend on the inputs");
    if (!KnownEqual(items[i], call.args[1])) continue;
    if (count++ == 0) first = static_cast<int64_t>(i);
  }
  if (call.op == "aten::__contains__") return Done(Item(Arg::Bool(count > 0)));
  if (call.op == "aten::count") return Done(Item(Arg::Int(count)));
  if (first < 0) return in.Raise("a value is not in a list");
  if (call.op == "aten::index") return Done(Item(Arg::Int(first)));
  TERN_ASSIGN(Cell * cell, Changeable(in, call));
  cell->items.erase(cell->items.begin() + first);
  return Nothing();
}

Outcome ListSlice(Interpreter& in, const CallSite& call) {
  if (call.args.empty() || !call.args[0].list_or_tuple() || call.args[0].cell->sequence) return NotMine();
  const std::vector<Item>& items = call.args[0].cell->items;
  const auto size = static_cast<int64_t>(items.size());
  const auto number = [&](size_t i, int64_t otherwise) {
    return i < call.args.size() && call.args[i].known_int() ? call.args[i].arg.integer : otherwise;
  };
  for (size_t i = 1; i < call.args.size(); ++i)
    if (!call.args[i].none() && !call.args[i].known_int())
      return in.NotYet("a list is sliced at a computed position");
  const int64_t step = number(3, 1);
  if (step == 0) return in.Bad("the step of a slice is 0");
  int64_t start = number(1, step > 0 ? 0 : size - 1), end = number(2, step > 0 ? size : -size - 1);
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = std::clamp<int64_t>(start, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  end = std::clamp<int64_t>(end, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  std::vector<Item> part;
  for (int64_t i = start; step > 0 ? i < end : i > end; i += step)
    part.push_back(items[static_cast<size_t>(i)]);
  return Done(call.args[0].Is(Item::Kind::kList) ? in.NewList(std::move(part))
                                                 : in.NewTuple(std::move(part)));
}

Outcome ListConcat(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2 || !call.args[0].list_or_tuple() || call.args[1].kind != call.args[0].kind ||
      call.args[0].cell->sequence || call.args[1].cell->sequence)
    return NotMine();
  std::vector<Item> items = call.args[0].cell->items;
  const std::vector<Item>& more = call.args[1].cell->items;
  if (items.size() + more.size() > kMaxItems) return in.NotYet("a list has more than ", kMaxItems, " items");
  items.insert(items.end(), more.begin(), more.end());
  return Done(call.args[0].Is(Item::Kind::kList) ? in.NewList(std::move(items))
                                                 : in.NewTuple(std::move(items)));
}

Outcome Repeat(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2) return NotMine();
  const bool first = call.args[0].Is(Item::Kind::kList);
  const Item &list = call.args[first ? 0 : 1], &count = call.args[first ? 1 : 0];
  if (!list.Is(Item::Kind::kList) || list.cell->sequence || !count.known_int()) return NotMine();
  const int64_t times = std::max<int64_t>(0, count.arg.integer);
  if (times > static_cast<int64_t>(kMaxItems) ||
      static_cast<size_t>(times) * list.cell->items.size() > kMaxItems)
    return in.NotYet("a list has more than ", kMaxItems, " items");
  std::vector<Item> items;
  for (int64_t i = 0; i < times; ++i)
    items.insert(items.end(), list.cell->items.begin(), list.cell->items.end());
  return Done(in.NewList(std::move(items)));
}

Outcome ListEqual(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 2 || !call.args[0].list_or_tuple() || call.args[1].kind != call.args[0].kind ||
      call.args[0].cell->sequence || call.args[1].cell->sequence)
    return NotMine();
  const std::vector<Item>&a = call.args[0].cell->items, &b = call.args[1].cell->items;
  Item equal(Arg::Bool(a.size() == b.size()));
  for (size_t i = 0; (equal.arg.value || equal.arg.integer != 0) && i < a.size(); ++i) {
    TERN_ASSIGN(const Item same, in.CallOp({"aten::eq", {a[i], b[i]}, {}}));
    if (!same.number()) return in.NotYet("lists of tensors are compared");
    if (same.arg.known() && !same.arg.integer) equal = same;
    if (same.arg.known()) continue;
    TERN_ASSIGN(equal, in.CallOp({"aten::__and__", {equal, same}, {}}));
  }
  if (call.op == "aten::eq") return Done(equal);
  return Done(in.CallOp({"aten::__not__", {equal}, {}}));
}

Outcome AnyAll(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].Is(Item::Kind::kList)) return NotMine();
  const bool any = call.op == "aten::any";
  Item result(Arg::Bool(!any));
  for (const Item& item : call.args[0].cell->items) {
    if (!item.number()) return NotMine();
    TERN_ASSIGN(result, in.CallOp({any ? "aten::__or__" : "aten::__and__", {result, Item(item)}, {}}));
  }
  return Done(result);
}

Outcome Sum(Interpreter& in, const CallSite& call) {
  if (call.args.size() != 1 || !call.args[0].Is(Item::Kind::kList)) return NotMine();
  Item total(Arg::Int(0));
  for (const Item& item : call.args[0].cell->items) {
    if (!item.number()) return NotMine();
    TERN_ASSIGN(total, in.CallOp({"aten::add", {total, item}, {}}));
  }
  return Done(total);
}

// Emits torch.stack or torch.cat of a list whose length the graph computes.
Outcome JoinTensors(Interpreter& in, const CallSite& call) {
  if (call.args.empty() || !call.args[0].Is(Item::Kind::kList) || !call.args[0].cell->sequence)
    return NotMine();
  int64_t axis = 0;
  const Item* dim = call.args.size() > 1 ? &call.args[1] : call.Keyword("dim");
  if (dim && !dim->known_int()) return in.NotYet(call.op, " along a computed axis");
  if (dim) axis = dim->arg.integer;
  Builder b = in.NewBuilder(call.op);
  Value* joined = b.Op("ConcatFromSequence", {call.args[0].cell->sequence},
                       {{"axis", axis}, {"new_axis", call.op == "aten::stack"}});
  TERN_TRY(Status(b.status()));
  return Done(Item(Arg::Of(TorchContext::NewTensor(joined))));
}

}  // namespace

void AddListBuiltins(BuiltinTable& table) {
  table.Add("aten::len", ListLength);
  table.Add("aten::__getitem__", ListGetItem);
  table.Add("prim::TupleIndex", ListGetItem);
  table.Add("aten::_set_item", ListSetItem);
  table.Add("aten::append", Append);
  table.Add("aten::insert", Insert);
  for (const char* op : {"aten::extend", "aten::add_"}) table.Add(op, Extend);
  for (const char* op : {"aten::pop", "aten::Delete"}) table.Add(op, Pop);
  table.Add("aten::clear", ListClear);
  table.Add("aten::reverse", Reverse);
  for (const char* op : {"aten::copy", "aten::list"}) table.Add(op, ListCopy);
  for (const char* op : {"aten::sort", "aten::sorted"}) table.Add(op, Sort);
  for (const char* op : {"aten::index", "aten::count", "aten::__contains__", "aten::remove"})
    table.Add(op, Search);
  table.Add("aten::slice", ListSlice);
  table.Add("aten::add", ListConcat);
  table.Add("aten::mul", Repeat);
  for (const char* op : {"aten::eq", "aten::ne"}) table.Add(op, ListEqual);
  for (const char* op : {"aten::any", "aten::all"}) table.Add(op, AnyAll);
  table.Add("aten::sum", Sum);
  for (const char* op : {"aten::stack", "aten::cat", "aten::concat"}) table.Add(op, JoinTensors);
}

}  // namespace tern::torch::script
