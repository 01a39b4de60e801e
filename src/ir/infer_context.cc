#include "ir/infer_context.h"

namespace tern {
namespace {
constexpr int64_t kMaxContent = 1024;  // longer integer tensors are treated as data, not as shapes

const InferInput& Absent() {
  static const auto* absent = new InferInput();
  return *absent;
}
}  // namespace

InferContext::InferContext(const OpDef& op, std::vector<InferInput> inputs, int outputs,
                           SubgraphInfer subgraphs)
    : op_(op),
      inputs_(std::move(inputs)),
      outputs_(static_cast<size_t>(outputs)),
      subgraphs_(std::move(subgraphs)) {}

const Type& InferContext::In(int i) const {
  return Has(i) ? inputs_[static_cast<size_t>(i)].type : Absent().type;
}

const Tensor* InferContext::Constant(int i) const {
  if (!Has(i)) return nullptr;
  const Tensor& t = inputs_[static_cast<size_t>(i)].constant;
  return t.defined() ? &t : nullptr;
}

std::optional<Content> InferContext::ContentOf(int i) const {
  if (!Has(i)) return std::nullopt;
  if (const auto& content = inputs_[static_cast<size_t>(i)].content) return content;
  const Tensor* t = Constant(i);
  if (!t || t->rank() > 1 || t->size() > kMaxContent || !IsInt(t->dtype())) return std::nullopt;
  const auto longs = ToLongs(*t);
  return Content(longs.begin(), longs.end());
}

std::optional<std::vector<int64_t>> InferContext::LongsOf(std::string_view port) const {
  if (const Tensor* t = Constant(port)) return ToLongs(*t);
  const auto content = ContentOf(port);
  if (!content) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& d : *content) {
    if (!d.known()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

void InferContext::Out(int i, Type type) {
  if (i < OutputCount()) outputs_[static_cast<size_t>(i)].type = std::move(type);
}

void InferContext::OutContent(std::string_view port, Content content) {
  const int i = op_.OutputIndex(port);
  if (i < OutputCount() && static_cast<int64_t>(content.size()) <= kMaxContent)
    outputs_[static_cast<size_t>(i)].content = std::move(content);
}

Result<std::vector<Type>> InferContext::InferSubgraph(int i, const std::vector<Type>& inputs) {
  TERN_CHECK(subgraphs_, "op ", op_.name, " has no subgraphs here");
  return subgraphs_(i, inputs);
}

std::string InferContext::DescribeInputs() const {
  std::string out;
  for (int i = 0; i < InputCount(); ++i) {
    if (!Has(i)) continue;
    if (!out.empty()) out += "   ";
    out += StrCat(op_.InputPort(i).name, " ", In(i).ToString());
  }
  return out;
}

namespace {

// Checks input and output counts and that required inputs are present.
Status CheckArity(const OpDef& op, const InferContext& c) {
  const int declared = static_cast<int>(op.inputs.size());
  const bool variadic = declared && op.inputs.back().arity == Port::Arity::kVariadic;
  if (c.InputCount() > declared && !variadic)
    return InvalidModel("takes at most ", declared, " inputs, got ", c.InputCount());
  for (int i = 0; i < declared; ++i) {
    const Port& port = op.inputs[static_cast<size_t>(i)];
    if (port.arity == Port::Arity::kRequired && !c.Has(i))
      return InvalidModel("input '", port.name, "' is missing");
  }
  const int results = static_cast<int>(op.outputs.size());
  if (c.OutputCount() > results && (!results || op.outputs.back().arity != Port::Arity::kVariadic))
    return InvalidModel("has at most ", results, " outputs, got ", c.OutputCount());
  return {};
}

Status CheckTypes(const OpDef& op, const InferContext& c) {
  for (int i = 0; i < c.InputCount(); ++i) {
    const Port& port = op.InputPort(i);
    const Type& type = c.In(i);
    if (!c.Has(i) || port.types == 0 || type.kind == Type::Kind::kUnknown) continue;
    if (!type.tensor())
      return InvalidModel("input '", port.name, "' must be a tensor, got ", type.ToString());
    if (type.dtype != DType::kInvalid && !(port.types & SetOf(type.dtype)))
      return InvalidModel("input '", port.name, "' must be ", Describe(port.types), ", got ",
                          type.ToString());
  }
  return {};
}

}  // namespace

Status RunInfer(const OpDef& op, const Attrs& attrs, InferContext& context) {
  Status status = CheckArity(op, context);
  if (status.ok()) status = CheckTypes(op, context);
  if (status.ok()) status = op.infer(attrs, context);
  if (status.ok()) return status;
  return Status(status.code(), StrCat(status.message(), "\n  inputs: ", context.DescribeInputs()));
}

Result<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return InvalidModel("axis ", axis, " is outside [", -rank, ", ", rank, ") of a rank-", rank, " tensor");
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

// Returns true if `limited` is max(0, full) or min(full, n) with n >= 1. If such a dim broadcasts with
// `full`, the result is `full`. max(0, full) equals `full`, because a size is not negative. min(full, n)
// equals `full` or n, and n broadcasts with a larger `full` only if n is 1.
static bool IsLimited(const Dim& limited, const Dim& full) {
  if (limited == Max(Dim(0), full) || limited == Max(full, Dim(0))) return true;
  std::vector<std::string> symbols;
  full.CollectSymbols(symbols);
  if (symbols.size() != 1 || full != Dim::Symbol(symbols[0])) return false;
  const auto limit = limited.Evaluate({{symbols[0], int64_t{1} << 40}});
  return limit && *limit >= 1 && Min(full, Dim(*limit)) == limited;
}

static Result<Dim> BroadcastDims(const Dim& a, const Dim& b, size_t axis_from_end) {
  if (a == b || b.Is(1)) return a;
  if (a.Is(1)) return b;
  if (a.known() && b.known())
    return InvalidModel("cannot broadcast: dimension -", axis_from_end, " is ", a.value(), " against ",
                        b.value());
  // The result is the known size, because a dim that broadcasts with it can only be 1 or the same size.
  if (a.known()) return a;
  if (b.known()) return b;
  if (a.symbolic() && b.symbolic()) {
    if (IsLimited(b, a)) return a;
    if (IsLimited(a, b)) return b;
  }
  return Dim::Unknown();
}

Result<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  if (!a.ranked || !b.ranked) return Shape();
  const size_t rank = std::max(a.dims.size(), b.dims.size());
  std::vector<Dim> out(rank);
  for (size_t i = 1; i <= rank; ++i) {
    const Dim x = i <= a.dims.size() ? a.dims[a.dims.size() - i] : Dim(1);
    const Dim y = i <= b.dims.size() ? b.dims[b.dims.size() - i] : Dim(1);
    TERN_ASSIGN(out[rank - i], BroadcastDims(x, y, i));
  }
  return Shape(std::move(out));
}

}  // namespace tern
