#include "import/torch/script/inputs.h"

#include <algorithm>

#include "import/torch/script/dotted.h"

namespace tern::torch::script {
namespace {

constexpr int kMaxInputDepth = 16;
constexpr size_t kMaxListed = 1000;

Shape SymbolicShape(const std::string& name, int rank) {
  std::vector<Dim> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(Dim::Symbol(StrCat(name, "_", i)));
  return Shape(std::move(dims));
}

const Pickled* Part(const Pickled* example, size_t i) {
  return example && i < example->items.size() ? example->items[i] : nullptr;
}

}  // namespace

bool Inputs::Given(const std::string& name) const {
  const auto begins = [&](const std::string& prefix) {
    const auto at = given_.lower_bound(prefix);
    return at != given_.end() && StartsWith(at->first, prefix);
  };
  return given_.contains(name) || begins(name + "_") || begins(name + ".");
}

Result<KeywordItems> Inputs::Arguments(Interpreter& in, const Function& forward) {
  KeywordItems arguments;
  for (size_t i = 1; i < forward.parameters.size(); ++i) {
    const Parameter& parameter = forward.parameters[i];
    const Pickled* example = Part(traced_, i - 1);
    const bool none = example && example->Is(Pickled::Kind::kNone);
    if (parameter.otherwise && !Given(parameter.name) && (!example || none)) continue;
    if (!parameter.type) return Unsupported("the parameter '", parameter.name, "' of forward has no type");
    TERN_ASSIGN(Item item, Make(in, parameter.name, *parameter.type, example, 0));
    arguments.emplace_back(parameter.name, std::move(item));
  }
  return arguments;
}

Result<Item> Inputs::Make(Interpreter& in, const std::string& name, const Expr& type, const Pickled* example,
                          int depth) {
  if (depth > kMaxInputDepth)
    return InvalidModel("the type of the parameter '", name, "' is nested too deep");
  if (const std::string dotted = DottedName(type, {}); !dotted.empty()) {
    TERN_ASSIGN(const Class* named, in.code.FindClass(dotted));
    if (!named || named->base != "NamedTuple")
      return Unsupported("the parameter '", name, "' of forward is an object of ", dotted);
    std::vector<Item> items;
    for (size_t i = 0; i < named->fields.size(); ++i) {
      const Statement& field = *named->fields[i];
      if (!field.type) return InvalidModel("a field of ", dotted, " has no type");
      TERN_ASSIGN(Item item,
                  Make(in, StrCat(name, "_", field.target->text), *field.type, Part(example, i), depth + 1));
      items.push_back(std::move(item));
    }
    return in.NewTuple(std::move(items), dotted);
  }
  if (type.kind == Expr::Kind::kSubscript) return MakeMany(in, name, type, example, depth);
  if (type.text == "Tensor") return NewInput(name, example);
  if (type.text == "int") return Number(name, DType::kI64);
  if (type.text == "float") return Number(name, DType::kF32);
  if (type.text == "bool") return Number(name, DType::kBool);
  return Unsupported("the parameter '", name, "' of forward is neither a tensor nor a number");
}

Result<Item> Inputs::MakeMany(Interpreter& in, const std::string& name, const Expr& type,
                              const Pickled* example, int depth) {
  const std::string& outer = type.items[0]->text;
  const Expr& inner = *type.items[1];
  if (outer == "Optional") {
    if (!Given(name) && (!example || example->Is(Pickled::Kind::kNone))) {
      in.context.Warn(StrCat("the optional input '", name, "' is None; give its shape to make it an input"));
      return Item();
    }
    return Make(in, name, inner, example, depth + 1);
  }
  std::vector<Item> items;
  if (outer == "Tuple") {
    const bool many = inner.kind == Expr::Kind::kTuple;
    for (size_t i = 0; i < (many ? inner.items.size() : 1); ++i) {
      TERN_ASSIGN(Item item, Make(in, StrCat(name, "_", i), many ? *inner.items[i] : inner, Part(example, i),
                                  depth + 1));
      items.push_back(std::move(item));
    }
    return in.NewTuple(std::move(items));
  }
  if (outer == "List") {
    size_t count = example ? example->items.size() : 0;
    while (count < kMaxListed && Given(StrCat(name, "_", count))) ++count;
    if (count == 0)
      return Unsupported("the parameter '", name, "' of forward is a list; give the shapes of its items ",
                         name, "_0, ", name, "_1, …");
    for (size_t i = 0; i < count; ++i) {
      TERN_ASSIGN(Item item, Make(in, StrCat(name, "_", i), inner, Part(example, i), depth + 1));
      items.push_back(std::move(item));
    }
    return in.NewList(std::move(items));
  }
  const bool tensors = outer == "Dict" && inner.kind == Expr::Kind::kTuple && inner.items.size() == 2 &&
                       inner.items[0]->IsName("str") && inner.items[1]->IsName("Tensor");
  if (!tensors) return Unsupported("the type of the parameter '", name, "' of forward");
  Item dict = in.heap.Make(Item::Kind::kDict);
  dict.cell->open = true;
  dict.cell->path = name;
  for (size_t i = 0; example && i + 1 < example->items.size(); i += 2) {
    dict.cell->keys.emplace_back(Arg::String(example->items[i]->text));
    dict.cell->items.push_back(NewInput(example->items[i]->text, example->items[i + 1]));
    dict.cell->open = false;
  }
  return dict;
}

Item Inputs::Number(const std::string& name, DType dtype) {
  return Item(Arg::Computed(graph_.AddInput(name, Type::TensorOf(dtype, Shape(std::vector<Dim>{})))));
}

// At most the first dim becomes a symbol, because it usually is the batch. The code of a traced model often
// contains the other sizes of the example as constants.
Type Inputs::FromExample(const std::string& name, const Pickled& example) const {
  Shape shape = Shape::Of(example.dims);
  if (!shape.dims.empty() && !assumptions_.traced_batch) shape.dims[0] = Dim::Symbol(StrCat(name, "_0"));
  return Type::TensorOf(example.dtype, std::move(shape));
}

Item Inputs::NewInput(const std::string& name, const Pickled* example) {
  Type type = Type::TensorOf(DType::kInvalid);
  auto given = given_.find(name);
  if (given == given_.end()) given = given_.find("");
  if (given != given_.end()) RefineType(type, given->second);
  if (example && example->Is(Pickled::Kind::kTensor)) {
    used_traced_ |= !type.shape.ranked;
    RefineType(type, FromExample(name, *example));
  }
  for (size_t i = 0; i < type.shape.dims.size(); ++i)
    if (type.shape.dims[i].unknown()) type.shape.dims[i] = Dim::Symbol(StrCat(name, "_", i));
  const bool no_dtype = type.dtype == DType::kInvalid, no_rank = !type.shape.ranked;
  if (no_dtype) type.dtype = DType::kF32;
  Value* value = graph_.AddInput(name, type);
  TensorPtr tensor = TorchContext::NewTensor(value);
  if (no_dtype || no_rank) open_[tensor.get()] = {value, no_dtype, no_rank};
  return Item(Arg::Of(std::move(tensor)));
}

Result<Item> Inputs::DictInput(const std::string& parameter, const std::string& key) {
  for (const Value* input : graph_.inputs())
    if (input->name == key)
      return Unsupported("two inputs are named '", key, "', one of them in '", parameter, "'");
  return NewInput(key, nullptr);
}

bool Inputs::HasDictInput(const std::string&, const std::string& key) const { return given_.count(key) > 0; }

Status Inputs::BeforeUse(const CallSite& call) {
  if (open_.empty() && guesses_.empty()) return {};
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Item& item = call.args[i];
    if (item.Is(Item::Kind::kList) && !item.cell->sequence) {
      for (const Item& part : item.cell->items)
        if (part.tensor()) TERN_TRY(BeforeUse({call.op, {part}, {}}));
      continue;
    }
    if (!item.tensor() || call.op == "aten::__is__" || call.op == "aten::__isnot__") continue;
    const TensorVar* tensor = item.arg.tensor.get();
    if (open_.count(tensor)) Decide(tensor, UseOf(call, i));
    const auto guess = guesses_.find(tensor);
    if (guess != guesses_.end()) Note(guess->second, UseOf(call, i));
  }
  return {};
}

void Inputs::Decide(const TensorVar* tensor, const Use& use) {
  const Open open = open_.at(tensor);
  open_.erase(tensor);
  Value* input = open.value;
  const auto found = hints_.find(input->name);
  const Hint* hint = found == hints_.end() ? nullptr : &found->second;
  if (open.dtype) input->type.dtype = hint && hint->sure ? hint->dtype : use.dtype;
  guesses_[tensor] = input;
  if (!open.rank) return;
  const int rank = assumptions_.rank > 0 ? assumptions_.rank : hint && hint->sure ? hint->rank : use.rank;
  input->type.shape = SymbolicShape(input->name, rank);
  for (size_t i = 0; hint && i < input->type.shape.dims.size(); ++i)
    for (const int axis : {static_cast<int>(i), static_cast<int>(i) - rank})
      if (const auto size = hint->sizes.find(axis); size != hint->sizes.end())
        input->type.shape.dims[i] = Dim(size->second);
}

// Stores what a use of a guessed input implies, for the next attempt to import.
void Inputs::Note(Value* input, const Use& use) {
  Hint& hint = hints_[input->name];
  if (use.sure && !hint.sure) {
    hint.sure = true;
    hint.dtype = use.dtype;
    hint.rank = use.rank;
  }
  if (use.size > 0) hint.sizes.emplace(use.axis, use.size);
}

Status Inputs::CheckNames() const {
  for (const auto& entry : given_) {
    const std::string& name = entry.first;
    if (name.empty()) continue;
    const auto same = [&](const Value* input) { return input->name == name; };
    if (std::none_of(graph_.inputs().begin(), graph_.inputs().end(), same)) {
      std::vector<std::string> names;
      for (const Value* input : graph_.inputs()) names.push_back(StrCat("'", input->name, "'"));
      return InvalidArgument("the model has no input '", name, "'; its inputs are ", Join(names, ", "));
    }
  }
  return {};
}

std::vector<std::string> Inputs::Guesses() const {
  std::vector<std::string> out;
  for (const auto& entry : guesses_)
    out.push_back(StrCat("'", entry.second->name, "' ", entry.second->type.ToString()));
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace tern::torch::script
