#include "import/torch/script/state.h"

#include "import/torch/script/dotted.h"
#include "import/torch/weights.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxStateDepth = 200;
constexpr size_t kMaxName = 4096;  // characters of an attribute's name

std::string Under(const std::string& path, const std::string& name) {
  return path.empty() ? name : StrCat(path, ".", name);
}

}  // namespace

std::string Weights::KeyOf(const Pickled& tensor, const std::string& folder) {
  return StrCat(folder, "/", tensor.text, " ", DTypeName(tensor.dtype), " ", tensor.number, " ",
                Join(tensor.dims, ","), " ", Join(tensor.strides, ","));
}

Result<Tensor> Weights::Read(const Pickled& tensor, const std::string& folder) {
  const std::string key = KeyOf(tensor, folder);
  if (const auto found = tensors_.find(key); found != tensors_.end()) return found->second;
  const std::string entry = StrCat(folder, "/", tensor.text);
  auto storage = storages_.find(entry);
  if (storage == storages_.end()) {
    TERN_ASSIGN(Buffer bytes, archive_.Read(entry));
    storage = storages_.emplace(entry, std::move(bytes)).first;
  }
  TERN_ASSIGN(Tensor view,
              TensorOfStorage(storage->second, tensor.dtype, tensor.dims, tensor.strides, tensor.number));
  tensors_[key] = view;
  return view;
}

Result<Item> StateReader::Read(const Pickled& data, const std::string& path, int depth) {
  if (depth > kMaxStateDepth)
    return InvalidModel("'", path, "' is nested more than ", kMaxStateDepth, " deep");
  switch (data.kind) {
    case Pickled::Kind::kNone:
      return Item();
    case Pickled::Kind::kBool:
      return Item(Arg::Bool(data.number != 0));
    case Pickled::Kind::kInt:
      return Item(Arg::Int(data.number));
    case Pickled::Kind::kFloat:
      return Item(Arg::Float(data.real));
    case Pickled::Kind::kText:
      return Item(Arg::String(data.text));
    case Pickled::Kind::kDevice:
      return Item(Arg::Device("cpu"));
    case Pickled::Kind::kDType:
      return Item(Arg::Type(data.dtype));
    default:
      break;
  }
  if (const auto found = done_.find(&data); found != done_.end()) return found->second;
  if (busy_[&data]) return InvalidModel("'", path, "' contains itself");
  busy_[&data] = true;
  auto item = data.Is(Pickled::Kind::kTensor)   ? ReadTensor(data, path)
              : data.Is(Pickled::Kind::kObject) ? ReadObject(data, path, depth)
              : data.Is(Pickled::Kind::kEnum)   ? ReadEnum(data)
                                                : ReadContainer(data, path, depth);
  busy_[&data] = false;
  if (!item.ok()) return item;
  done_[&data] = *item;
  return item;
}

Result<Item> StateReader::ReadContainer(const Pickled& data, const std::string& path, int depth) {
  const bool dict = data.Is(Pickled::Kind::kDict);
  if (!dict && !data.Is(Pickled::Kind::kList) && !data.Is(Pickled::Kind::kTuple))
    return InvalidModel("'", path, "' is neither data nor a tensor");
  Item item = in_.heap.Make(dict                            ? Item::Kind::kDict
                            : data.Is(Pickled::Kind::kList) ? Item::Kind::kList
                                                            : Item::Kind::kTuple);
  for (size_t i = 0; i < data.items.size(); i += dict ? 2 : 1) {
    if (dict) {
      TERN_ASSIGN(Item key, Read(*data.items[i], path, depth + 1));
      item.cell->keys.push_back(std::move(key));
    }
    TERN_ASSIGN(Item part,
                Read(*data.items[dict ? i + 1 : i], StrCat(path, "[", dict ? i / 2 : i, "]"), depth + 1));
    item.cell->items.push_back(std::move(part));
  }
  return item;
}

Result<Item> StateReader::ReadTensor(const Pickled& data, const std::string& path) {
  TensorPtr& tensor = tensors_[Weights::KeyOf(data, folder_)];
  if (!tensor) {
    auto contents = weights_.Read(data, folder_);
    if (!contents.ok()) return contents.TakeStatus().While(StrCat("reading '", path, "'"));
    tensor = TorchContext::NewTensor(in_.context.graph().AddConstant(std::move(*contents), path));
  }
  return Item(Arg::Of(tensor));
}

Result<Item> StateReader::ReadObject(const Pickled& data, const std::string& path, int depth) {
  TERN_ASSIGN(const Class* type, in_.code.FindClass(data.text));
  if (!type)
    return Unsupported("'", path, "' is an object of ", data.text, ", whose code is not in the file");
  Item object = in_.heap.Make(Item::Kind::kObject, data.text);
  object.cell->path = path;
  in_.modules.insert(data.text);
  if (data.items.empty()) return object;
  const Pickled& state = *data.items[0];
  if (Code::MethodOf(*type, "__setstate__")) {
    TERN_ASSIGN(const Item value, Read(state, path, depth + 1));
    TERN_ASSIGN([[maybe_unused]] const Item none, in_.CallMethod(object, "__setstate__", {value}, {}));
    return object;
  }
  if (!state.Is(Pickled::Kind::kDict)) return InvalidModel("the state of '", path, "' is not a dict");
  for (size_t i = 0; i + 1 < state.items.size(); i += 2) {
    if (!state.items[i]->Is(Pickled::Kind::kText))
      return InvalidModel("an attribute of '", path, "' has no name");
    const std::string& name = state.items[i]->text;
    if (name.size() > kMaxName)
      return InvalidModel("the name of an attribute of '", path, "' has ", name.size(), " characters");
    TERN_ASSIGN(object.cell->attributes[name], Read(*state.items[i + 1], Under(path, name), depth + 1));
  }
  for (const auto& field : type->fields) {
    const auto found = object.cell->attributes.find(field->target->text);
    if (field->type && found != object.cell->attributes.end())
      TERN_TRY(types_.Apply(found->second, *field->type));
  }
  return object;
}

Result<Item> StateReader::ReadEnum(const Pickled& data) {
  TERN_ASSIGN(const Class* type, in_.code.FindClass(data.text));
  const Pickled& value = *data.items[0];
  for (size_t i = 0; type && i < type->fields.size(); ++i) {
    const Statement& field = *type->fields[i];
    if (!field.value) continue;
    const Expr& e = *field.value;
    const bool same =
        (value.Is(Pickled::Kind::kInt) && e.kind == Expr::Kind::kInt && e.number == value.number) ||
        (value.Is(Pickled::Kind::kFloat) && e.kind == Expr::Kind::kFloat && e.real == value.real) ||
        (value.Is(Pickled::Kind::kText) && e.kind == Expr::Kind::kText && e.text == value.text);
    if (!same) continue;
    Item member = in_.heap.Make(Item::Kind::kEnum, data.text);
    member.text = field.target->text;
    TERN_ASSIGN(Item content, Read(value, data.text));
    member.cell->items = {std::move(content)};
    return member;
  }
  return InvalidModel("a value is not a member of ", data.text);
}

Status TypeApplier::Apply(Item& item, const Expr& type) {
  // Visits each part once. Containers may share parts, so visiting a part per path could take forever.
  if (item.cell && !done_.insert({item.cell, &type}).second) return {};
  const std::string name = DottedName(type, {});
  if (!name.empty()) {
    if (!item.Is(Item::Kind::kTuple)) return {};
    TERN_ASSIGN(const Class* named, in_.code.FindClass(name));
    if (!named || named->base != "NamedTuple") return {};
    item.cell->type = name;
    for (size_t i = 0; i < named->fields.size() && i < item.cell->items.size(); ++i)
      if (named->fields[i]->type) TERN_TRY(Apply(item.cell->items[i], *named->fields[i]->type));
    return {};
  }
  if (type.kind != Expr::Kind::kSubscript) return {};
  const std::string& outer = type.items[0]->text;
  const Expr& inner = *type.items[1];
  if (outer == "Optional") return Apply(item, inner);
  const bool many = inner.kind == Expr::Kind::kTuple;
  if (!item.list_or_tuple() && !item.Is(Item::Kind::kDict)) return {};
  for (size_t i = 0; i < item.cell->items.size(); ++i) {
    const Expr* part = &inner;
    if (many && outer == "Tuple") part = i < inner.items.size() ? inner.items[i].get() : nullptr;
    if (many && outer == "Dict") part = inner.items.back().get();
    if (part) TERN_TRY(Apply(item.cell->items[i], *part));
  }
  return {};
}

}  // namespace tern::torch::script
