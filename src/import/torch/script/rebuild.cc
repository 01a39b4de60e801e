// Constructs the data that a pickle may contain: tensors, dicts, devices and objects of the model's own
// classes.
#include "import/torch/script/globals.h"
#include "import/torch/script/unpickler.h"

namespace tern::torch::script {

using Kind = Pickled::Kind;

namespace {

constexpr size_t kMaxRank = 64;  // PyTorch's own limit

bool ToDims(const Pickled& tuple, Dims& dims) {
  if (!tuple.Is(Kind::kTuple) && !tuple.Is(Kind::kList)) return false;
  for (const Pickled* item : tuple.items) {
    if (!item->Is(Kind::kInt)) return false;
    dims.push_back(item->number);
  }
  return true;
}

}  // namespace

Status Unpickler::PushGlobal(std::string_view module, std::string_view name) {
  constexpr size_t kShown = 100;
  const GlobalInfo info = LookUpGlobal(module, name);
  const std::string full = StrCat(module.substr(0, kShown), ".", name.substr(0, kShown));
  if (info.kind == Global::kForbidden)
    return Bad("the file asks for ", QuoteText(full), ", which is not allowed in a model");
  if (info.kind == Global::kUnsupported)
    return Unsupported("the file contains data of ", QuoteText(full), ", which Tern does not support");
  TERN_TRY(Copy(module.size() + name.size()));
  Pickled* global = Push(info.kind == Global::kDType ? Kind::kDType : Kind::kGlobal);
  global->text = StrCat(module, ".", name);
  global->number = static_cast<int64_t>(info.kind);
  global->dtype = info.dtype;
  return {};
}

// REDUCE calls a function with a tuple of arguments; NEWOBJ makes an object of a class.
Status Unpickler::Reduce() {
  TERN_ASSIGN(const Pickled* arguments, Pop());
  TERN_ASSIGN(const Pickled* function, Pop());
  if (!function->Is(Kind::kGlobal)) return Bad("a value that is not a function is called");
  TERN_ASSIGN(Pickled * made, Rebuild(*function, *arguments));
  stack_.push_back(made);
  return {};
}

Result<Pickled*> Unpickler::Rebuild(const Pickled& function, const Pickled& arguments) {
  const auto global = static_cast<Global>(function.number);
  if (global == Global::kClass) {
    const bool object = arguments.Is(Kind::kTuple) && arguments.items.empty();
    TERN_TRY(Copy(function.text.size()));
    Pickled* made = New(object ? Kind::kObject : Kind::kEnum);
    made->text = function.text;
    if (!object) made->items = {&arguments};
    return made;
  }
  if (!arguments.Is(Kind::kTuple)) return Bad("the arguments of ", function.text, " are not a tuple");
  switch (global) {
    case Global::kRebuildTensor:
      return RebuildTensor(arguments, false);
    case Global::kRebuildTensorV3:
      return RebuildTensor(arguments, true);
    case Global::kOrderedDict:
      return RebuildDict(arguments);
    default:
      break;
  }
  if (arguments.items.empty()) return Bad(function.text, " needs an argument");
  // The cast is safe. Later opcodes change only lists, dicts and objects, and all references to one of these
  // must see its changes.
  auto* first = const_cast<Pickled*>(arguments.items[0]);
  if (global == Global::kFirstArgument) return first;
  if (global == Global::kSize && first->Is(Kind::kTuple)) return first;
  if (global == Global::kDevice && first->Is(Kind::kText)) {
    TERN_TRY(Copy(first->text.size()));
    Pickled* device = New(Kind::kDevice);
    device->text = first->text;
    return device;
  }
  return Bad(function.text, " cannot be called with these arguments");
}

Result<Pickled*> Unpickler::RebuildDict(const Pickled& arguments) {
  Pickled* dict = New(Kind::kDict);
  if (arguments.items.empty()) return dict;
  TERN_TRY(Copy(arguments.items[0]->items.size() * 2 * sizeof(Pickled*)));
  for (const Pickled* pair : arguments.items[0]->items) {
    if ((!pair->Is(Kind::kTuple) && !pair->Is(Kind::kList)) || pair->items.size() != 2)
      return Bad("OrderedDict needs a list of pairs");
    dict->items.insert(dict->items.end(), {pair->items[0], pair->items[1]});
  }
  return dict;
}

// The arguments are the storage, the offset, the dims and the strides. Later ones say whether the tensor
// needs a gradient. In version 3 the element type is the seventh argument.
Result<Pickled*> Unpickler::RebuildTensor(const Pickled& arguments, bool typed) {
  const auto& args = arguments.items;
  if (args.size() < (typed ? 7u : 4u) || !args[0]->Is(Kind::kStorage) || !args[1]->Is(Kind::kInt))
    return Bad("a tensor needs a storage, an offset, dims and strides");
  if (args[2]->items.size() > kMaxRank) return Bad("a tensor has ", args[2]->items.size(), " dims");
  TERN_TRY(Copy(args[0]->text.size()));
  Pickled* tensor = New(Kind::kTensor);
  tensor->text = args[0]->text;
  tensor->dtype = args[0]->dtype;
  tensor->number = args[1]->number;
  if (args[2]->items.size() != args[3]->items.size() || !ToDims(*args[2], tensor->dims) ||
      !ToDims(*args[3], tensor->strides))
    return Bad("the dims and strides of a tensor are not two lists of integers of the same length");
  if (!typed) return tensor;
  if (!args[6]->Is(Kind::kDType)) return Bad("the element type of a tensor is unknown");
  tensor->dtype = args[6]->dtype;
  return tensor;
}

// A persistent id is ("storage", type, key, device, number of elements).
Status Unpickler::Storage() {
  TERN_ASSIGN(const Pickled* id, Pop());
  const auto& items = id->items;
  if (!id->Is(Kind::kTuple) || items.size() < 3 || !items[0]->Is(Kind::kText) ||
      items[0]->text != "storage" || !items[1]->Is(Kind::kGlobal) ||
      static_cast<Global>(items[1]->number) != Global::kStorage || !items[2]->Is(Kind::kText))
    return Bad("a persistent id is not that of a storage");
  TERN_TRY(Copy(items[2]->text.size()));
  Pickled* storage = Push(Kind::kStorage);
  storage->text = items[2]->text;
  storage->dtype = items[1]->dtype;
  return {};
}

Status Unpickler::Build() {
  TERN_ASSIGN(Pickled * state, Pop());
  if (stack_.empty()) return Bad("the stack is empty");
  Pickled* object = stack_.back();
  if (object->Is(Kind::kObject) && object->items.empty()) {
    object->items = {state};
    return {};
  }
  // TorchScript's own pickler writes only the class here, without an opcode that makes the object.
  if (object->Is(Kind::kGlobal) && static_cast<Global>(object->number) == Global::kClass) {
    TERN_TRY(Copy(object->text.size()));
    stack_.pop_back();
    Pickled* made = Push(Kind::kObject);
    made->text = object->text;
    made->items = {state};
    return {};
  }
  // Ignores attributes of a dict or a tensor, such as _metadata of a state_dict.
  if (object->Is(Kind::kDict) || object->Is(Kind::kTensor)) return {};
  return Bad("a value that cannot have attributes gets attributes");
}

}  // namespace tern::torch::script
