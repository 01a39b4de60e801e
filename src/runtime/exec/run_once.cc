#include "runtime/exec/run_once.h"

#include "ir/evaluate.h"

namespace tern {

Result<std::vector<InferOutput>> InferOutputs(const Node& node, std::vector<InferInput> inputs,
                                              InferContext::SubgraphInfer subgraphs) {
  InferContext context(*node.op, std::move(inputs), static_cast<int>(node.outputs().size()),
                       std::move(subgraphs));
  Status status = Guard([&] { return RunInfer(*node.op, node.attrs, context); });
  if (!status.ok()) return Status(status.code(), StrCat(node.Describe(), ": ", status.message()));
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    // If inference does not know the kind or the dtype, the declared kind or dtype is used. Declared dims are
    // not used, because they can be wrong.
    Type& type = context.outputs()[i].type;
    const Type& declared = node.outputs()[i]->type;
    if (type.kind == Type::Kind::kUnknown)
      type = declared.tensor() ? Type::TensorOf(declared.dtype) : declared;
    if (type.tensor() && declared.tensor() && type.dtype == DType::kInvalid) type.dtype = declared.dtype;
  }
  return std::move(context.outputs());
}

KernelQuery NodeQuery(const Node& node) {
  KernelQuery query(*node.op, node.attrs);
  for (const auto& sub : node.subgraphs()) query.subgraphs.push_back(sub.get());
  return query;
}

KernelQuery QueryOf(const Node& node, const std::vector<const Datum*>& inputs,
                    const std::vector<Type>& outputs) {
  KernelQuery query = NodeQuery(node);
  query.weight.resize(inputs.size());
  for (const Datum* d : inputs) {
    const bool tensor = d && d->is_tensor();
    query.inputs.push_back(tensor ? TensorInfo{d->tensor.dtype(), d->tensor.dims()} : TensorInfo{});
    query.known.push_back(tensor ? &d->tensor : nullptr);
  }
  for (const Type& t : outputs) query.outputs.push_back({t.dtype, t.shape.Concrete()});
  return query;
}

bool AllConcrete(const std::vector<Type>& types) {
  for (const Type& t : types)
    if (!t.tensor() || t.dtype == DType::kInvalid || t.dtype == DType::kString || !t.shape.fully_known())
      return false;
  return true;
}

namespace {

Result<DatumList> RunKernel(const KernelEntry& entry, const KernelQuery& query,
                            const std::vector<const Datum*>& inputs, const Workers& workers) {
  std::unique_ptr<Kernel> kernel = entry.make();
  size_t packed = 0;
  PrepareContext prepare(query, workers, packed);
  TERN_TRY(kernel->Prepare(prepare));
  ResizeContext resize(query, workers.threads());
  TERN_TRY(kernel->Resize(resize));
  DatumList outputs;
  for (const TensorInfo& info : query.outputs) outputs.emplace_back(Tensor(info.dtype, info.dims));
  const Buffer scratch = Buffer::Allocate(resize.scratch());
  RunContext run;
  run.inputs = inputs;
  for (Datum& d : outputs) run.outputs.push_back(&d);
  run.scratch_memory = scratch.data();
  run.pool = &workers;
  TERN_TRY(kernel->Run(run));
  return outputs;
}

}  // namespace

Result<DatumList> RunOnce(const Node& node, const std::vector<const Datum*>& inputs, const Target& target,
                          const Workers& workers) {
  std::vector<InferInput> known(inputs.size());
  DatumList copies(inputs.size());
  std::vector<const Datum*> data = inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    known[i].present = true;
    known[i].type = TypeOf(*inputs[i]);
    if (!inputs[i]->is_tensor()) continue;
    known[i].constant = inputs[i]->tensor;
    if (inputs[i]->tensor.contiguous()) continue;
    copies[i] = inputs[i]->tensor.Contiguous();
    data[i] = &copies[i];
  }
  TERN_ASSIGN(auto outputs, InferOutputs(node, std::move(known)));
  std::vector<Type> types;
  for (InferOutput& out : outputs) types.push_back(std::move(out.type));
  if (AllConcrete(types)) {
    const KernelQuery query = QueryOf(node, data, types);
    if (const KernelEntry* entry = target.Select(query)) return RunKernel(*entry, query, data, workers);
  }
  return EvaluateNode(node, data);
}

}  // namespace tern
