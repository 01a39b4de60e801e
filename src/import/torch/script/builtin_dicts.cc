// Operators on dicts.
#include "import/torch/script/builtins.h"

namespace tern::torch::script {
namespace {

bool IsDict(const CallSite& call, size_t least) {
  return call.args.size() >= least && call.args[0].Is(Item::Kind::kDict);
}

// Returns the position of a key, or the number of entries if there is none.
size_t PositionOf(const Cell& dict, const Item& key) {
  size_t i = 0;
  while (i < dict.keys.size() && !KnownEqual(dict.keys[i], key)) ++i;
  return i;
}

// Adds the entry of a dict parameter that the code reads for the first time.
Status AddInput(Interpreter& in, Cell& dict, const Item& key) {
  if (!dict.open || !key.string() || PositionOf(dict, key) < dict.keys.size()) return {};
  TERN_ASSIGN(Item input, in.inputs.DictInput(dict.path, key.arg.text));
  dict.keys.push_back(key);
  dict.items.push_back(std::move(input));
  return {};
}

Outcome DictGetItem(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 2)) return NotMine();
  Cell& dict = *call.args[0].cell;
  const Item& key = call.args[1];
  const bool optional = call.op == "aten::get";
  if (!optional || in.inputs.HasDictInput(dict.path, key.arg.text)) TERN_TRY(AddInput(in, dict, key));
  const size_t at = PositionOf(dict, key);
  if (at < dict.items.size()) return Done(dict.items[at]);
  if (optional) return call.args.size() > 2 ? Done(call.args[2]) : Nothing();
  return in.Raise(StrCat("the key ", key.string() ? QuoteText(key.arg.text) : key.Describe(), " is missing"));
}

Outcome DictSetItem(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 3)) return NotMine();
  Cell& dict = *call.args[0].cell;
  in.heap.Touch(dict);
  const size_t at = PositionOf(dict, call.args[1]);
  if (at < dict.items.size()) {
    dict.items[at] = call.args[2];
  } else {
    dict.keys.push_back(call.args[1]);
    dict.items.push_back(call.args[2]);
  }
  return Nothing();
}

Outcome SetDefault(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 3)) return NotMine();
  const Cell& dict = *call.args[0].cell;
  const size_t at = PositionOf(dict, call.args[1]);
  if (at < dict.items.size()) return Done(dict.items[at]);
  TERN_ASSIGN([[maybe_unused]] const Item none, in.CallOp({"aten::_set_item", call.args, {}}));
  return Done(call.args[2]);
}

Outcome Contains(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 2)) return NotMine();
  Cell& dict = *call.args[0].cell;
  if (dict.open && call.args[1].string() && in.inputs.HasDictInput(dict.path, call.args[1].arg.text))
    TERN_TRY(AddInput(in, dict, call.args[1]));
  return Done(Item(Arg::Bool(PositionOf(dict, call.args[1]) < dict.keys.size())));
}

Outcome Entries(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 1)) return NotMine();
  const Cell& dict = *call.args[0].cell;
  if (dict.open)
    return in.NotYet("the code reads all entries of the dict '", dict.path,
                     "'; name its entries, such as --shape KEY=1x8");
  if (call.op == "aten::len") return Done(Item(Arg::Int(static_cast<int64_t>(dict.items.size()))));
  std::vector<Item> entries;
  for (size_t i = 0; i < dict.items.size(); ++i) {
    if (call.op == "aten::items")
      entries.push_back(in.NewTuple({dict.keys[i], dict.items[i]}));
    else
      entries.push_back(call.op == "aten::keys" ? dict.keys[i] : dict.items[i]);
  }
  return Done(in.NewList(std::move(entries)));
}

Outcome DictCopy(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 1)) return NotMine();
  Item copy = in.heap.Make(Item::Kind::kDict);
  copy.cell->keys = call.args[0].cell->keys;
  copy.cell->items = call.args[0].cell->items;
  return Done(copy);
}

Outcome Remove(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 2)) return NotMine();
  Cell& dict = *call.args[0].cell;
  TERN_TRY(AddInput(in, dict, call.args[1]));
  in.heap.Touch(dict);
  const size_t at = PositionOf(dict, call.args[1]);
  if (at == dict.keys.size())
    return call.args.size() > 2 ? Done(call.args[2]) : in.Raise("a key is missing in a dict");
  const Item value = dict.items[at];
  dict.keys.erase(dict.keys.begin() + static_cast<std::ptrdiff_t>(at));
  dict.items.erase(dict.items.begin() + static_cast<std::ptrdiff_t>(at));
  return call.op == "aten::Delete" ? Nothing() : Done(value);
}

Outcome Update(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 2) || !call.args[1].Is(Item::Kind::kDict)) return NotMine();
  const Cell more = *call.args[1].cell;
  for (size_t i = 0; i < more.items.size(); ++i) {
    TERN_ASSIGN([[maybe_unused]] const Item none,
                in.CallOp({"aten::_set_item", {call.args[0], more.keys[i], more.items[i]}, {}}));
  }
  return Nothing();
}

Outcome DictClear(Interpreter& in, const CallSite& call) {
  if (!IsDict(call, 1)) return NotMine();
  in.heap.Touch(*call.args[0].cell);
  call.args[0].cell->keys.clear();
  call.args[0].cell->items.clear();
  return Nothing();
}

Outcome Make(Interpreter& in, const CallSite& call) {
  if (!call.args.empty()) return NotMine();
  return Done(in.heap.Make(Item::Kind::kDict));
}

}  // namespace

void AddDictBuiltins(BuiltinTable& table) {
  for (const char* op : {"aten::__getitem__", "aten::get"}) table.Add(op, DictGetItem);
  table.Add("aten::_set_item", DictSetItem);
  table.Add("aten::setdefault", SetDefault);
  table.Add("aten::__contains__", Contains);
  for (const char* op : {"aten::keys", "aten::values", "aten::items", "aten::len"}) table.Add(op, Entries);
  table.Add("aten::copy", DictCopy);
  for (const char* op : {"aten::pop", "aten::Delete"}) table.Add(op, Remove);
  table.Add("aten::update", Update);
  table.Add("aten::clear", DictClear);
  for (const char* op : {"aten::dict", "prim::DictConstruct"}) table.Add(op, Make);
}

}  // namespace tern::torch::script
