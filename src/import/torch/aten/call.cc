#include "import/torch/aten/call.h"

#include <algorithm>

#include "import/torch/aten/complex.h"
#include "import/torch/aten/converter.h"
#include "import/torch/aten/emit.h"
#include "import/torch/aten/views.h"

namespace tern::torch {
namespace {

// Returns the functional operator "aten::add" of an in-place operator "aten::add_", or null if the operator
// does not write to its first argument.
const Schema* FunctionalOf(const Schema& s) {
  if (s.parameters.empty() || !s.parameters[0].written || s.name.back() != '_') return nullptr;
  return FindSchema(s.name.substr(0, s.name.size() - 1), s.overload);
}

// Whether an overload is for Python's numbers, such as aten::ceil.int(int a) -> int. Converters need tensors.
bool OnlyNumbers(const Schema& s) {
  const auto tensor = [](const Parameter& p) { return p.type == Parameter::Type::kTensor; };
  return !s.returns.empty() && std::none_of(s.parameters.begin(), s.parameters.end(), tensor) &&
         std::none_of(s.returns.begin(), s.returns.end(), tensor);
}

bool Writes(const Schema& s) {
  for (const Parameter& p : s.parameters)
    if (p.written) return true;
  return false;
}

// Returns null if the operator is not supported.
const Converter* ConverterOf(const Schema& schema) {
  const Schema* functional = FunctionalOf(schema);
  const Schema& s = functional ? *functional : schema;
  if (Writes(s)) return nullptr;
  return Converters().Find(s.name, s.overload);
}

// Converts the functional operator and writes its result to the first argument.
Result<std::vector<Arg>> CallInPlace(TorchContext& context, const BoundCall& call, const Schema& functional) {
  const Arg self = call.args[0];
  if (!self.is_tensor())
    return InvalidModel("node '", call.place.name, "' (", call.place.origin, ") writes to ", self.Describe());
  TERN_ASSIGN(std::vector<Arg> results, Convert(context, {&functional, call.args, call.place}));
  Builder b(context.graph());
  b.At(call.place.name, call.place.origin);
  TERN_ASSIGN(Value * fresh, context.Read(*results[0].tensor, b));
  fresh = Emit(b).Cast(fresh, self.tensor->type().dtype);
  TERN_TRY(context.Write(*self.tensor, fresh, b));
  TERN_TRY(Status(b.status()));
  return std::vector<Arg>{self};
}

Result<const Schema*> SchemaOf(const OpName& op, const std::vector<Arg>& args, const Keywords& keywords) {
  if (!op.has_overload) return Resolve(op.name, args, keywords);
  const Schema* s = FindSchema(op.name, op.overload);
  if (!s) return Unsupported("operator ", op.name, op.overload.empty() ? "" : ".", op.overload);
  return s;
}

Status At(const Place& place, Status status) {
  if (status.ok() || status.message().rfind("node '", 0) == 0) return status;
  return Status(status.code(), StrCat("node '", place.name, "' (", place.origin, "): ", status.message()));
}

}  // namespace

OpName SplitOp(std::string_view op) {
  OpName out;
  const size_t colons = op.find("::");
  const size_t dot = op.find('.', colons == std::string_view::npos ? 0 : colons);
  out.name = std::string(op.substr(0, dot));
  out.has_overload = dot != std::string_view::npos;
  if (out.has_overload) out.overload = std::string(op.substr(dot + 1));
  if (out.overload == "default") out.overload.clear();
  return out;
}

bool Supports(std::string_view op) {
  const OpName name = SplitOp(op);
  if (name.has_overload) {
    const Schema* s = FindSchema(name.name, name.overload);
    return s && ConverterOf(*s);
  }
  for (const Schema* s : OverloadsOf(name.name))
    if (ConverterOf(*s)) return true;
  return false;
}

Result<std::vector<Arg>> Convert(TorchContext& context, const BoundCall& given) {
  BoundCall call = given;
  TERN_ASSIGN(const bool complex, PrepareComplex(context, call));
  const Converter* converter = Converters().Find(call.schema->name, call.schema->overload);
  if (!converter || Writes(*call.schema) || OnlyNumbers(*call.schema))
    return Unsupported("operator ", call.schema->FullName());
  Builder b(context.graph());
  b.At(call.place.name, call.place.origin);
  AtenNode node(context, b, *call.schema, call.args);
  node.name = call.place.name;
  node.origin = call.place.origin;
  Status converted = (*converter)(node);
  // An argument of the wrong kind is reported first, because it may cause other errors.
  TERN_TRY(Status(b.status()));
  TERN_TRY(std::move(converted));
  if (node.results().size() != call.schema->returns.size())
    return node.NotYet("a result that its converter does not produce");
  for (Arg& r : node.results())
    if (complex && r.is_tensor()) r.tensor->complex = true;
  return std::move(node.results());
}

Result<std::vector<Arg>> Call(TorchContext& context, std::string_view op, const std::vector<Arg>& args,
                              const Keywords& keywords, const Place& place) {
  const auto schema = SchemaOf(SplitOp(op), args, keywords);
  if (!schema.ok()) return At(place, schema.status());
  auto bound = Bind(**schema, args, keywords);
  if (!bound.ok()) return At(place, bound.TakeStatus());
  const BoundCall call{*schema, std::move(*bound), place};
  if (const Schema* functional = FunctionalOf(**schema)) {
    auto written = CallInPlace(context, call, *functional);
    return written.ok() ? std::move(written) : Result<std::vector<Arg>>(At(place, written.TakeStatus()));
  }
  auto results = Convert(context, call);
  if (!results.ok()) return At(place, results.TakeStatus());
  const Status linked = LinkViews(context, call, *results);
  if (!linked.ok()) return At(place, linked);
  return results;
}

}  // namespace tern::torch
