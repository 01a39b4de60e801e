#include "import/torch/export/arguments.h"

#include "import/torch/export/expression.h"

namespace tern::torch {
namespace {

Result<Arg> Lookup(const std::string& name, const Names& names) {
  const auto it = names.find(name);
  if (it == names.end()) return InvalidModel("the value '", name, "' does not exist");
  return it->second;
}

Result<Arg> NamedTensor(Json json, const Names& names) {
  TERN_ASSIGN(const std::string name, TextIn(json, "name"));
  return Lookup(name, names);
}

// as_sym_int and the like: {"as_name": name} or a literal.
Result<Arg> Symbolic(Json json, const Names& names) {
  TERN_ASSIGN(const Union u, UnionOf(json));
  if (u.kind == "as_name") {
    TERN_ASSIGN(const std::string name, TextOf(u.value));
    return Lookup(name, names);
  }
  return ReadArgument(json, names);
}

Result<Arg> OptionalTensor(Json json, const Names& names) {
  TERN_ASSIGN(const Union u, UnionOf(json));
  if (u.kind == "as_none") return Arg::None();
  return NamedTensor(u.value, names);
}

Result<Arg> Format(int64_t number) {
  static constexpr MemoryFormat kFormats[] = {MemoryFormat::kContiguous, MemoryFormat::kContiguous,
                                              MemoryFormat::kChannelsLast, MemoryFormat::kChannelsLast3d,
                                              MemoryFormat::kPreserve};
  if (number < 0 || number > 4) return InvalidModel("memory format ", number, " is unknown");
  return Arg::Format(kFormats[number]);
}

template <class F> Result<Arg> ListOf(Json json, F&& item) {
  TERN_ASSIGN(const auto array, ArrayOf(json));
  std::vector<Arg> items;
  for (const Json e : array) {
    TERN_ASSIGN(Arg a, item(e));
    items.push_back(std::move(a));
  }
  return Arg::List(std::move(items));
}

Result<Arg> Int(Json j) {
  TERN_ASSIGN(const int64_t v, IntOf(j));
  return Arg::Int(v);
}
Result<Arg> Float(Json j) {
  TERN_ASSIGN(const double v, FloatOf(j));
  return Arg::Float(v);
}
Result<Arg> Bool(Json j) {
  TERN_ASSIGN(const bool v, BoolOf(j));
  return Arg::Bool(v);
}
Result<Arg> String(Json j) {
  TERN_ASSIGN(std::string v, TextOf(j));
  return Arg::String(std::move(v));
}

Result<Arg> ReadKind(const std::string& kind, Json j, const Names& names) {
  const auto tensor = [&](Json e) { return NamedTensor(e, names); };
  const auto symbolic = [&](Json e) { return Symbolic(e, names); };
  if (kind == "as_none") return Arg::None();
  if (kind == "as_tensor") return NamedTensor(j, names);
  if (kind == "as_tensors") return ListOf(j, tensor);
  if (kind == "as_optional_tensor") return OptionalTensor(j, names);
  if (kind == "as_optional_tensors") return ListOf(j, [&](Json e) { return OptionalTensor(e, names); });
  if (kind == "as_nested_tensors") return ListOf(j, [&](Json e) { return ListOf(e, tensor); });
  if (kind == "as_int") return Int(j);
  if (kind == "as_ints") return ListOf(j, Int);
  if (kind == "as_int_lists") return ListOf(j, [](Json e) { return ListOf(e, Int); });
  if (kind == "as_float") return Float(j);
  if (kind == "as_floats") return ListOf(j, Float);
  if (kind == "as_float_lists") return ListOf(j, [](Json e) { return ListOf(e, Float); });
  if (kind == "as_bool") return Bool(j);
  if (kind == "as_bools") return ListOf(j, Bool);
  if (kind == "as_string" || kind == "as_operator") return String(j);
  if (kind == "as_strings") return ListOf(j, String);
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return Symbolic(j, names);
  if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools") return ListOf(j, symbolic);
  if (kind == "as_device") return Arg::Device("cpu");
  if (kind == "as_layout") return Arg::Layout();
  if (kind == "as_memory_format") {
    TERN_ASSIGN(const int64_t v, IntOf(j));
    return Format(v);
  }
  if (kind == "as_scalar_type") {
    TERN_ASSIGN(const int64_t v, IntOf(j));
    const DType t = DTypeOfExport(v);
    if (t == DType::kInvalid) return Unsupported("the scalar type ", v);
    return Arg::Type(t);
  }
  return Unsupported("an argument of the kind '", kind, "'");
}

Result<Dim> ReadSize(Json json) {
  TERN_ASSIGN(const Union u, UnionOf(json));
  if (u.kind == "as_int") {
    TERN_ASSIGN(const int64_t v, IntOf(u.value));
    return Dim(v);
  }
  TERN_ASSIGN(const std::string text, TextIn(u.value, "expr_str"));
  return ParseExpression(text);
}

Result<std::vector<Dim>> ReadSizes(Json json) {
  TERN_ASSIGN(const auto array, ArrayOf(json));
  std::vector<Dim> sizes;
  for (const Json e : array) {
    TERN_ASSIGN(Dim d, ReadSize(e));
    if (d.known() && d.value() < 0) return InvalidModel("a tensor has the size ", d.value());
    sizes.push_back(std::move(d));
  }
  return sizes;
}

}  // namespace

DType DTypeOfExport(int64_t number) {
  static constexpr DType kFirst[] = {
      DType::kInvalid, DType::kU8,  DType::kI8,      DType::kI16, DType::kI32,  DType::kI64,  DType::kF16,
      DType::kF32,     DType::kF64, DType::kInvalid, DType::kC64, DType::kC128, DType::kBool, DType::kBF16};
  static constexpr DType kLater[] = {DType::kU16,        DType::kF8E4M3FN, DType::kF8E5M2, DType::kF8E4M3FNUZ,
                                     DType::kF8E5M2FNUZ, DType::kF8E8M0,   DType::kU32,    DType::kU64};
  if (number >= 0 && number < 14) return kFirst[number];
  if (number >= 28 && number < 36) return kLater[number - 28];
  return DType::kInvalid;
}

Result<Arg> ReadArgument(Json json, const Names& names) {
  TERN_ASSIGN(const Union u, UnionOf(json));
  return ReadKind(u.kind, u.value, names);
}

Status NamesOfOutput(Json output, std::vector<std::string>& names) {
  TERN_ASSIGN(const Union u, UnionOf(output));
  if (u.kind == "as_none" || u.kind == "as_int" || u.kind == "as_float" || u.kind == "as_bool" ||
      u.kind == "as_string") {
    names.emplace_back();
    return {};
  }
  if (u.kind == "as_tensors" || u.kind == "as_sym_ints" || u.kind == "as_optional_tensors") {
    TERN_ASSIGN(const auto array, ArrayOf(u.value));
    for (const Json e : array) {
      const auto inner = Find(e, "as_tensor");
      auto name = Find(inner ? *inner : e, "name");
      if (!name) name = Find(e, "as_name");
      std::string_view text;
      names.emplace_back(!name || name->get(text) ? std::string() : std::string(text));
    }
    return {};
  }
  Json value = u.value;
  if (u.kind == "as_optional_tensor") {
    TERN_ASSIGN(const Union inner, UnionOf(value));
    if (inner.kind == "as_none") {
      names.emplace_back();
      return {};
    }
    value = inner.value;
  }
  auto name = Find(value, "name");
  if (!name) name = Find(value, "as_name");
  if (!name) {
    names.emplace_back();
    return {};
  }
  TERN_ASSIGN(std::string text, TextOf(*name));
  names.push_back(std::move(text));
  return {};
}

Status BindOutput(Json output, const Arg& result, Names& names) {
  std::vector<std::string> found;
  TERN_TRY(NamesOfOutput(output, found));
  TERN_ASSIGN(const Union u, UnionOf(output));
  const bool list = u.kind == "as_tensors" || u.kind == "as_sym_ints" || u.kind == "as_optional_tensors";
  if (!list) {
    if (!found.empty() && !found[0].empty()) names[found[0]] = result;
    return {};
  }
  if (!result.list() || result.items.size() != found.size())
    return InvalidModel("a node declares ", found.size(), " results, but has ", result.Describe());
  for (size_t i = 0; i < found.size(); ++i)
    if (!found[i].empty()) names[found[i]] = result.items[i];
  return {};
}

Result<TensorMeta> ReadTensorMeta(Json json) {
  TensorMeta meta;
  TERN_ASSIGN(const Json type, Member(json, "dtype"));
  TERN_ASSIGN(const int64_t number, IntOf(type));
  meta.dtype = DTypeOfExport(number);
  if (meta.dtype == DType::kInvalid) return Unsupported("a tensor of the scalar type ", number);
  TERN_ASSIGN(const Json sizes, Member(json, "sizes"));
  TERN_ASSIGN(meta.sizes, ReadSizes(sizes));
  if (auto strides = Find(json, "strides")) {
    TERN_ASSIGN(meta.strides, ReadSizes(*strides));
  }
  meta.offset = Dim(0);
  if (auto offset = Find(json, "storage_offset")) {
    TERN_ASSIGN(meta.offset, ReadSize(*offset));
  }
  if (IsComplex(meta.dtype)) {
    meta.complex = true;
    meta.dtype = meta.dtype == DType::kC64 ? DType::kF32 : DType::kF64;
    meta.sizes.push_back(Dim(2));
    for (Dim& s : meta.strides) s = s * Dim(2);
    meta.strides.push_back(Dim(1));
    meta.offset = meta.offset * Dim(2);
  }
  return meta;
}

}  // namespace tern::torch
