#include "tools/feeds.h"

#include <filesystem>

#include "data/npy.h"
#include "data/npz.h"
#include "data/random.h"
#include "import/onnx/importer.h"
#include "tools/shapes.h"

namespace tern::tools {
namespace {

std::string Extension(const std::string& path) {
  std::string text = std::filesystem::path(path).extension().string();
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}

// The type of the tensors that go into this value.
DType ElementType(const Type& type) { return type.element && type.kind != Type::Kind::kMap ? ElementType(*type.element) : type.dtype; }

Result<Tensor> Adopt(Tensor stored, const Value& input, const std::string& path) {
  auto t = data::AdoptStorage(std::move(stored), ElementType(input.type));
  if (!t.ok()) return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ": '", path, "' ", t.status().message());
  return t;
}

// An archive for one input: the array of that name, the only array, or all of them as a sequence.
Result<Datum> FromArchive(const std::string& path, const Value& input) {
  TERN_ASSIGN(data::NamedTensors arrays, data::ReadNpz(path));
  if (input.type.kind == Type::Kind::kSequence) {
    DatumList items;
    for (auto& [name, tensor] : arrays) {
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), input, path));
      items.emplace_back(std::move(t));
    }
    return Datum::SequenceOf(std::move(items));
  }
  for (auto& [name, tensor] : arrays)
    if (name == input.name || arrays.size() == 1) {
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), input, path));
      return Datum(std::move(t));
    }
  return NotFound("'", path, "' holds ", arrays.size(), " arrays, none called '", input.name, "'");
}

Status CheckDims(const Value& input, const Tensor& t, SymbolValues& symbols) {
  const auto wrong = [&](const std::string& why) {
    return InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", got ", t.Describe(), why);
  };
  if (input.type.dtype != DType::kInvalid && t.dtype() != input.type.dtype) return wrong("");
  const Shape& shape = input.type.shape;
  if (!shape.ranked) return {};
  if (shape.rank() != t.rank()) return wrong(StrCat(": ", t.rank(), " dims in place of ", shape.rank()));
  for (int i = 0; i < t.rank(); ++i) {
    const auto known = shape[i].Evaluate(symbols);
    if (known && *known != t.dim(i)) return wrong(StrCat(": dim ", i, " is ", t.dim(i), ", must be ", *known));
    std::vector<std::string> names;
    shape[i].CollectSymbols(names);
    if (names.size() == 1 && shape[i] == Dim::Symbol(names[0])) symbols.emplace(names[0], t.dim(i));
  }
  return {};
}

}  // namespace

Result<Datum> ReadDatum(const std::string& path, const Value& input) {
  const std::string kind = Extension(path);
  if (kind == ".pb") return onnx::ReadTestDatum(path, input.type);
  if (kind == ".npz") return FromArchive(path, input);
  if (kind == ".npy") {
    TERN_ASSIGN(Tensor stored, data::ReadNpy(path));
    TERN_ASSIGN(Tensor t, Adopt(std::move(stored), input, path));
    return Datum(std::move(t));
  }
  return Unsupported("'", path, "': inputs are read from .npy, .npz and .pb files");
}

Status AddFeed(const Graph& graph, const std::string& argument, Feeds& feeds) {
  // The longest name that fits: names may hold '=' themselves.
  const Value* found = nullptr;
  for (const auto* list : {&graph.inputs(), &graph.overridable()})
    for (const Value* v : *list)
      if (StartsWith(argument, v->name + "=") && (!found || v->name.size() > found->name.size())) found = v;
  const size_t equals = argument.find('=');
  if (!found && equals != std::string::npos) return FindInput(graph, argument.substr(0, equals)).TakeStatus();
  if (!found && Extension(argument) == ".npz") {
    TERN_ASSIGN(data::NamedTensors arrays, data::ReadNpz(argument));
    for (auto& [name, tensor] : arrays) {
      TERN_ASSIGN(Value* input, FindInput(graph, name));
      TERN_ASSIGN(Tensor t, Adopt(std::move(tensor), *input, argument));
      feeds[name] = Datum(std::move(t));
    }
    return {};
  }
  if (!found && graph.inputs().size() != 1)
    return InvalidArgument("--input ", argument, ": the model has ", graph.inputs().size(), " inputs; say NAME=FILE");
  const Value& input = found ? *found : *graph.inputs()[0];
  const std::string path = found ? argument.substr(found->name.size() + 1) : argument;
  TERN_ASSIGN(feeds[input.name], ReadDatum(path, input));
  return {};
}

Status AddRandomFeeds(const Graph& graph, uint64_t seed, Feeds& feeds) {
  for (const Value* v : graph.inputs()) {
    if (feeds.count(v->name)) continue;
    if (!v->type.tensor()) return Unsupported("input '", v->name, "' is ", v->type.ToString(), ": give it with --input");
    TERN_ASSIGN(Tensor t, data::RandomTensor(v->type.dtype, v->type.shape.Concrete(), seed, v->name));
    feeds[v->name] = Datum(std::move(t));
  }
  return {};
}

Result<DatumList> OrderFeeds(Graph& graph, const Feeds& feeds) {
  for (const auto& [name, datum] : feeds) {
    TERN_ASSIGN(Value* v, FindInput(graph, name));
    if (v->is_constant()) graph.ConstantToInput(v);
  }
  DatumList out;
  SymbolValues symbols;
  for (const Value* v : graph.inputs()) {
    const auto it = feeds.find(v->name);
    if (it == feeds.end()) return InvalidArgument("input '", v->name, "' ", v->type.ToString(), " was not given; use --input or --random");
    if (it->second.is_tensor() && v->type.tensor()) TERN_TRY(CheckDims(*v, it->second.tensor, symbols));
    out.push_back(it->second);
  }
  return out;
}

}  // namespace tern::tools
