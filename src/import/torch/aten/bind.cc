// Assigns the arguments of a call to the parameters of a schema.
#include "import/torch/aten/schema.h"

namespace tern::torch {
namespace {

using Kind = Arg::Kind;
using Type = Parameter::Type;

Result<Arg> Mismatch(const Parameter& p, const Arg& arg) {
  return InvalidModel("argument '", p.name, "' cannot be ", arg.Describe());
}

// TorchScript stores types, layouts and memory formats as numbers.
Result<Arg> FromNumber(const Parameter& p, const Arg& arg) {
  if (!arg.known() || arg.kind != Kind::kInt) return Mismatch(p, arg);
  if (p.type == Type::kDType) {
    const DType t = DTypeOfScalarType(arg.integer);
    if (t == DType::kInvalid) return Unsupported("argument '", p.name, "': scalar type ", arg.integer);
    return Arg::Type(t);
  }
  if (p.type == Type::kMemoryFormat) {
    if (arg.integer < 0 || arg.integer > 3) return Mismatch(p, arg);
    return Arg::Format(static_cast<MemoryFormat>(arg.integer));
  }
  return Arg::Layout();
}

Result<Arg> ConvertItem(const Parameter& p, const Arg& arg, bool exact) {
  if (arg.none() && (p.optional_items || (p.optional && !p.list))) return arg;
  switch (p.type) {
    case Type::kTensor:
      if (arg.is_tensor() || (!exact && arg.number())) return arg;
      break;
    case Type::kInt:
      if (arg.kind == Kind::kInt) return arg;
      if (!exact && arg.kind == Kind::kBool && arg.known()) return Arg::Int(arg.integer);
      if (!exact && arg.kind == Kind::kDType) return arg;
      break;
    case Type::kFloat:
      if (arg.kind == Kind::kFloat) return arg;
      if (!exact && arg.kind == Kind::kInt)
        return arg.known() ? Arg::Float(static_cast<double>(arg.integer)) : arg;
      break;
    case Type::kScalar:
      if (arg.number()) return arg;
      break;
    case Type::kBool:
      if (arg.kind == Kind::kBool) return arg;
      if (!exact && arg.kind == Kind::kInt && arg.known()) return Arg::Bool(arg.integer != 0);
      break;
    case Type::kString:
      if (arg.kind == Kind::kString) return arg;
      break;
    case Type::kDType:
      return arg.kind == Kind::kDType ? Result<Arg>(arg) : FromNumber(p, arg);
    case Type::kMemoryFormat:
      return arg.kind == Kind::kMemoryFormat ? Result<Arg>(arg) : FromNumber(p, arg);
    case Type::kLayout:
      return arg.kind == Kind::kLayout ? Result<Arg>(arg) : FromNumber(p, arg);
    case Type::kDevice:
      if (arg.kind == Kind::kDevice) return arg;
      if (arg.kind == Kind::kString) return Arg::Device(arg.text);
      break;
    case Type::kOther:
      break;
  }
  return Mismatch(p, arg);
}

Result<Arg> Convert(const Parameter& p, const Arg& arg, bool exact) {
  if (arg.none() && p.optional) return arg;
  if (!p.list) return ConvertItem(p, arg, exact);
  if (!arg.list()) {
    if (p.length == 0 || !arg.number()) return Mismatch(p, arg);
    TERN_ASSIGN(Arg item, ConvertItem(p, arg, exact));
    return Arg::List(std::vector<Arg>(static_cast<size_t>(p.length), item));
  }
  std::vector<Arg> items;
  items.reserve(arg.items.size());
  for (const Arg& a : arg.items) {
    TERN_ASSIGN(Arg item, ConvertItem(p, a, exact));
    items.push_back(std::move(item));
  }
  // For int[1], a list of any length is permitted. An empty list means the default.
  const auto length = static_cast<size_t>(p.length);
  if (length > 1 && items.size() == 1) items.resize(length, Arg(items[0]));
  if (length > 1 && !items.empty() && items.size() != length)
    return InvalidModel("the argument '", p.name, "' has ", items.size(), " items, but must have ", length);
  return Arg::List(std::move(items));
}

}  // namespace

DType DTypeOfScalarType(int64_t number) {
  static constexpr DType kTypes[] = {DType::kU8,      DType::kI8,      DType::kI16,     DType::kI32,
                                     DType::kI64,     DType::kF16,     DType::kF32,     DType::kF64,
                                     DType::kInvalid, DType::kC64,     DType::kC128,    DType::kBool,
                                     DType::kInvalid, DType::kInvalid, DType::kInvalid, DType::kBF16};
  if (number >= 0 && number < static_cast<int64_t>(std::size(kTypes))) return kTypes[number];
  switch (number) {
    case 23:
      return DType::kF8E5M2;
    case 24:
      return DType::kF8E4M3FN;
    case 25:
      return DType::kF8E5M2FNUZ;
    case 26:
      return DType::kF8E4M3FNUZ;
    case 27:
      return DType::kU16;
    case 28:
      return DType::kU32;
    case 29:
      return DType::kU64;
    case 44:
      return DType::kF8E8M0;
    default:
      return DType::kInvalid;
  }
}

Result<std::vector<Arg>> Bind(const Schema& schema, const std::vector<Arg>& positional,
                              const Keywords& keywords, bool exact) {
  const size_t count = schema.parameters.size();
  std::vector<const Arg*> given(count, nullptr);
  if (positional.size() > count)
    return InvalidModel(schema.FullName(), " takes ", count, " arguments, but the call has ",
                        positional.size());
  for (size_t i = 0; i < positional.size(); ++i) {
    if (schema.parameters[i].keyword_only && exact)
      return InvalidModel(schema.FullName(), ": argument '", schema.parameters[i].name, "' needs its name");
    given[i] = &positional[i];
  }
  for (const auto& [name, arg] : keywords) {
    const int i = schema.Find(name);
    if (i < 0) return InvalidModel(schema.FullName(), " has no argument '", name, "'");
    if (given[static_cast<size_t>(i)])
      return InvalidModel(schema.FullName(), ": argument '", name, "' occurs twice");
    given[static_cast<size_t>(i)] = &arg;
  }
  std::vector<Arg> bound(count);
  for (size_t i = 0; i < count; ++i) {
    const Parameter& p = schema.parameters[i];
    if (!given[i] && !p.has_default && !p.optional)
      return InvalidModel(schema.FullName(), ": argument '", p.name, "' is missing");
    const Arg& arg = given[i] ? *given[i] : p.otherwise;
    auto converted = Convert(p, arg, exact && given[i]);
    if (!converted.ok())
      return Status(converted.status().code(), StrCat(schema.FullName(), ": ", converted.status().message()));
    bound[i] = std::move(*converted);
  }
  return bound;
}

Result<const Schema*> Resolve(std::string_view name, const std::vector<Arg>& positional,
                              const Keywords& keywords) {
  const auto overloads = OverloadsOf(name);
  for (const bool exact : {true, false})
    for (const Schema* s : overloads)
      if (Bind(*s, positional, keywords, exact).ok()) return s;
  if (overloads.empty()) return Unsupported("operator ", name);
  if (overloads.size() == 1) return Bind(*overloads[0], positional, keywords).TakeStatus();
  std::vector<std::string> args;
  for (const Arg& a : positional) args.push_back(a.Describe());
  for (const auto& [key, a] : keywords) args.push_back(StrCat(key, "=", a.Describe()));
  return InvalidModel("no overload of ", name, " takes these arguments: ", Join(args, ", "));
}

}  // namespace tern::torch
