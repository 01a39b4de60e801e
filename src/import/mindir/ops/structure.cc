// Converts the primitives that pass values on: tuples, functions, parameters and side effects.
#include "import/mindir/converter.h"

namespace tern::mindir {
namespace {

Status MakeTuple(MindNode& n) {
  n.OutItem(Item::Tuple(n.all_inputs()));
  return {};
}

Status TupleGetItem(MindNode& n) {
  if (n.InputCount() != 2) return n.Bad("needs 2 inputs, but has ", n.InputCount());
  const Item& tuple = n.inputs()[0];
  int64_t index = n.Int(1, {}, 0);
  if (!tuple.is(Item::Kind::kTuple)) return n.Bad("needs a tuple, but got ", tuple.Describe());
  const auto size = static_cast<int64_t>(tuple.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) return n.Bad("element ", index, " of a tuple with ", size, " elements");
  n.OutItem(tuple[static_cast<size_t>(index)]);
  return {};
}

Status TupleSetItem(MindNode& n) {
  if (n.InputCount() != 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
  const Item& tuple = n.inputs()[0];
  const int64_t index = n.Int(1, {}, 0);
  if (!tuple.is(Item::Kind::kTuple)) return n.Bad("needs a tuple, but got ", tuple.Describe());
  if (index < 0 || index >= static_cast<int64_t>(tuple.size()))
    return n.Bad("element ", index, " of a tuple with ", tuple.size(), " elements");
  std::vector<Item> items = *tuple.items;
  items[static_cast<size_t>(index)] = n.inputs()[2];
  n.OutItem(Item::Tuple(std::move(items)));
  return {};
}

// Returns the first input. The others only order side effects.
Status First(MindNode& n) {
  if (n.all_inputs().empty()) return n.Bad("needs an input");
  n.OutItem(n.all_inputs()[0]);
  return {};
}

Status UpdateState(MindNode& n) {
  n.OutItem(Item::Monad());
  return {};
}

Status Partial(MindNode& n) {
  if (n.all_inputs().empty() || !n.all_inputs()[0].is(Item::Kind::kFunction))
    return n.Bad("needs a function");
  Item function = n.all_inputs()[0];
  std::vector<Item> bound;
  for (size_t i = 0; i < function.size(); ++i) bound.push_back(function[i]);
  bound.insert(bound.end(), n.all_inputs().begin() + 1, n.all_inputs().end());
  function.items = std::make_shared<const std::vector<Item>>(std::move(bound));
  n.OutItem(std::move(function));
  return {};
}

bool Callable(const Item& item) { return item.is(Item::Kind::kFunction) || item.is(Item::Kind::kSwitch); }

Status Switch(MindNode& n) {
  if (n.InputCount() != 3) return n.Bad("needs 3 inputs, but has ", n.InputCount());
  const Item &condition = n.inputs()[0], &yes = n.inputs()[1], &no = n.inputs()[2];
  if (!condition.is(Item::Kind::kValue) && !ConstantOf(condition))
    return n.Bad("the condition is ", condition.Describe());
  if (Callable(yes) && Callable(no)) {
    n.OutItem(Item::Tuple(n.inputs(), Item::Kind::kSwitch));
    return {};
  }
  if (Callable(yes) || Callable(no)) return n.Bad("only one of its values is a function");
  Value* chosen = n.b.Op("Reshape", {n.In(0), n.b.Ints({})});
  n.Out(n.b.Op("Where", {chosen, n.In(1), n.In(2)}));
  return {};
}

// Calls element `index` of a tuple of functions. A negative index counts from the end.
Status SwitchLayer(MindNode& n) {
  if (n.InputCount() != 2 || !n.inputs()[1].is(Item::Kind::kTuple) || n.inputs()[1].size() == 0)
    return n.Bad("needs an index and a tuple of functions");
  const Item& functions = n.inputs()[1];
  Value* index = n.b.Op("Reshape", {n.b.Op("Cast", {n.In(0)}, {{"to", DType::kI64}}), n.b.Ints({})});
  const auto count = static_cast<int64_t>(functions.size());
  Item result = functions[functions.size() - 1];
  if (!Callable(result)) return n.Bad("needs functions, but got ", result.Describe());
  const auto equals = [&](int64_t k) {
    return n.b.Op("Binary", {index, n.b.Const(Tensor::Scalar(DType::kI64, static_cast<double>(k)))},
                  {{"kind", "equal"}});
  };
  for (int64_t i = count - 1; i-- > 0;) {
    const Item& function = functions[static_cast<size_t>(i)];
    if (!Callable(function)) return n.Bad("needs functions, but got ", function.Describe());
    Value* chosen = n.b.Op("Binary", {equals(i), equals(i - count)}, {{"kind", "or"}});
    result = Item::Tuple({Item::Of(chosen), function, result}, Item::Kind::kSwitch);
  }
  n.OutItem(std::move(result));
  return {};
}

}  // namespace

TERN_CONVERTERS(structure) {
  for (const char* name : {"MakeTuple", "make_tuple", "MakeList", "make_list"}) table.Add(name, MakeTuple);
  for (const char* name :
       {"TupleGetItem", "tuple_getitem", "ListGetItem", "list_getitem", "RealTupleGetItem"})
    table.Add(name, TupleGetItem);
  for (const char* name : {"TupleSetItem", "tuple_setitem"}) table.Add(name, TupleSetItem);
  for (const char* name : {"Depend", "depend", "Load", "Return", "return", "StopGradient", "stop_gradient",
                           "TupleToList", "ListToTuple"})
    table.Add(name, First);
  table.Add("UpdateState", UpdateState);
  for (const char* name : {"Partial", "partial"}) table.Add(name, Partial);
  for (const char* name : {"Switch", "switch"}) table.Add(name, Switch);
  for (const char* name : {"SwitchLayer", "switch_layer"}) table.Add(name, SwitchLayer);
}

}  // namespace tern::mindir
