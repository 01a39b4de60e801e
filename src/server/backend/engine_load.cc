// Loads a model for the built-in engine, and describes its inputs and outputs.
#include <algorithm>
#include <cstring>

#include "generate/generate.h"
#include "passes/batch/independent_items.h"
#include "server/backend/engine_model.h"
#include "server/backend/snapshot.h"
#include "server/core/signatures.h"

namespace tern::server {
namespace {

constexpr int kDefaultMaxBatch = 4;  // Triton's default, for a configuration without max_batch_size

std::string_view ParameterOf(const TernModelInfo& info, std::string_view key) {
  for (uint64_t i = 0; i < info.parameter_count; ++i)
    if (key == info.parameters[i].key) return info.parameters[i].value;
  return {};
}

// Returns the capacity of the plan cache: two plans per batch size, but at least 16 and at most 64 plans.
int PlanCache(const TernModelInfo& info) { return std::clamp(2 * info.max_batch_size, 16, 64); }

Result<SessionOptions> OptionsOf(const TernModelInfo& info) {
  SessionOptions options;
  options.level = Level::kLayout;
  options.plan_cache = PlanCache(info);
  if (const std::string_view text = ParameterOf(info, "tern_threads"); !text.empty()) {
    int64_t threads = 0;
    if (!ParseInt(text, threads) || threads < 0 || threads > kMaxThreads)
      return InvalidArgument("parameter tern_threads is '", text, "'; it must be from 0 to ", kMaxThreads);
    options.threads = static_cast<int>(threads);
  }
  if (const std::string_view text = ParameterOf(info, "tern_precision"); !text.empty()) {
    const auto precision = ParsePrecision(text);
    if (!precision)
      return InvalidArgument("parameter tern_precision is '", text, "'; it must be ", kPrecisionNames);
    options.precision = *precision;
  }
  return options;
}

// The inputs and outputs that clients see. States are hidden.
std::vector<const Value*> InputsOf(const Session& session) {
  std::vector<const Value*> out;
  for (int i = 0; i < session.InputCount(); ++i)
    if (!session.IsStateInput(i)) out.push_back(session.graph().inputs()[static_cast<size_t>(i)]);
  return out;
}
std::vector<const Value*> OutputsOf(const Session& session) {
  std::vector<const Value*> out;
  for (int i = 0; i < session.OutputCount(); ++i)
    if (!session.IsStateOutput(i)) out.push_back(session.graph().outputs()[static_cast<size_t>(i)]);
  return out;
}

// Returns the first dim if it can be a batch dim because it is unknown or a symbol, else null.
const Dim* FreeDim(const Value& value) {
  static const Dim* const unknown = new Dim();
  const Shape& shape = value.type.shape;
  if (!shape.ranked) return unknown;
  if (shape.rank() == 0 || shape[0].known()) return nullptr;
  return &shape[0];
}

bool Contains(const Dim& dim, const Dim& symbol) {
  std::vector<std::string> in, names;
  dim.CollectSymbols(in);
  symbol.CollectSymbols(names);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& n) { return std::find(in.begin(), in.end(), n) != in.end(); });
}

// Returns whether the first dims of all tensors can be the same batch dim. The first dim of an output may
// have another symbol, because exporters do not always write the symbol of the batch dim. It must not be a
// function of the batch dim, such as 2*N.
bool Batchable(const Session& session) {
  const Dim* batch = nullptr;
  for (const Value* input : InputsOf(session)) {
    const Dim* dim = FreeDim(*input);
    if (!dim || (batch && dim->symbolic() && batch->symbolic() && *dim != *batch)) return false;
    if (!batch || batch->unknown()) batch = dim;
  }
  if (!batch) return false;
  for (const Value* output : OutputsOf(session)) {
    const Dim* dim = FreeDim(*output);
    if (!dim || (*dim != *batch && Contains(*dim, *batch))) return false;
  }
  return true;
}

// Returns whether a dim other than the first depends on the batch dim, as in a matrix that compares all
// items.
bool ComparesItems(const Session& session) {
  const std::vector<const Value*> inputs = InputsOf(session);
  for (const auto& values : {inputs, OutputsOf(session)})
    for (const Value* value : values)
      for (size_t i = 1; i < value->type.shape.dims.size(); ++i)
        for (const Value* input : inputs)
          if (Contains(value->type.shape.dims[i], *FreeDim(*input))) return true;
  return false;
}

// Returns whether the configuration leaves the batch size and the tensors to the model.
bool Open(const TernModelInfo& info) {
  return info.max_batch_size == 0 && info.input_count == 0 && info.output_count == 0;
}

Status DescribeTensor(const Value& value, bool batched, void (*add)(TernDescription*, const TernTensorInfo*),
                      TernDescription* to) {
  if (!value.type.tensor())
    return Unsupported("'", value.name, "' is ", value.type.ToString(), "; clients can use tensors only");
  if (!value.type.shape.ranked)
    return Unsupported("'", value.name, "' has no fixed rank; state its dims in the model's configuration");
  Dims dims;
  for (const Dim& dim : value.type.shape.dims) dims.push_back(dim.known() ? dim.value() : -1);
  if (batched && !dims.empty()) dims.erase(dims.begin());
  const TernTensorInfo info{value.name.c_str(), AbiType(value.type.dtype), static_cast<int32_t>(dims.size()),
                            dims.data(), 0};
  add(to, &info);
  return {};
}

// A tensor of unknown rank gets the dims of the configuration, because the model does not specify them.
Status DescribeAll(const std::vector<const Value*>& values, const TernTensorInfo* configured, uint64_t count,
                   bool batched, void (*add)(TernDescription*, const TernTensorInfo*), TernDescription* to) {
  for (const Value* value : values) {
    const TernTensorInfo* known = nullptr;
    for (uint64_t i = 0; i < count; ++i)
      if (value->name == configured[i].name) known = &configured[i];
    if (known && value->type.tensor() && !value->type.shape.ranked)
      add(to, known);
    else
      TERN_TRY(DescribeTensor(*value, batched, add, to));
  }
  return {};
}

// The types of the configured inputs, for formats whose files do not declare them, such as TorchScript.
std::map<std::string, Type> InputTypesOf(const TernModelInfo& info) {
  std::map<std::string, Type> types;
  for (uint64_t i = 0; i < info.input_count; ++i) {
    const TernTensorInfo& input = info.inputs[i];
    const DType dtype = TypeFromAbi(input.type);
    if (dtype == DType::kInvalid) continue;
    types[input.name] = Type::TensorOf(dtype);
    if (input.rank == 0) continue;  // the configuration leaves the dims open
    std::vector<Dim> dims;
    if (info.max_batch_size > 0) dims.push_back(Dim::Symbol("batch"));
    for (int32_t k = 0; k < input.rank; ++k)
      dims.push_back(input.dims[k] < 0 ? Dim::Symbol(StrCat(input.name, "_", k)) : Dim(input.dims[k]));
    types[input.name] = Type::TensorOf(dtype, Shape(std::move(dims)));
  }
  return types;
}

}  // namespace

Result<std::unique_ptr<EngineModel>> EngineModel::Load(const TernModelInfo& info) {
  if (!*info.file) return NotFound("the model has no model file");
  InitGenerate();
  TERN_TRY(OptionsOf(info).TakeStatus());
  TERN_ASSIGN(load::Loaded loaded, LoadSnapshot(info.file, InputTypesOf(info),
                                                std::string(ParameterOf(info, kSignatureParameter))));
  for (const std::string& warning : loaded.warnings)
    Host().log(1, StrCat("model '", info.name, "': ", warning).c_str());
  return Create(info, std::move(loaded.graph));
}

Result<std::unique_ptr<EngineModel>> EngineModel::Create(const TernModelInfo& info,
                                                         std::unique_ptr<Graph> graph) {
  TERN_ASSIGN(const SessionOptions options, OptionsOf(info));
  auto model = std::make_unique<EngineModel>();
  if (Open(info)) model->items_mixed = CheckIndependentItems(*graph).message();
  TERN_ASSIGN(model->session, Session::Create(std::move(graph), options));
  return model;
}

Status EngineModel::Describe(const TernModelInfo& info, TernDescription* to) const {
  const bool open = Open(info);
  const bool batchable = Batchable(*session) && !(open && ComparesItems(*session));
  if (info.max_batch_size > 0 && !batchable)
    return InvalidArgument(
        "max_batch_size is ", info.max_batch_size,
        ", but the first dims of the model's inputs and outputs are not a common batch dim; "
        "set max_batch_size to 0");
  if (open && batchable) {
    Host().set_max_batch_size(to, kDefaultMaxBatch, items_mixed.empty());
    if (!items_mixed.empty())
      Host().log(
          0,
          StrCat("model '", info.name, "': requests are not batched together, because their items may ",
                 "influence each other (", items_mixed, "); dynamic_batching in the configuration permits it")
              .c_str());
  }
  const bool batched = open ? batchable : info.max_batch_size > 0;
  TERN_TRY(DescribeAll(InputsOf(*session), info.inputs, info.input_count, batched, Host().add_input, to));
  return DescribeAll(OutputsOf(*session), info.outputs, info.output_count, batched, Host().add_output, to);
}

}  // namespace tern::server
