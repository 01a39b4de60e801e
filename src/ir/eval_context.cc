#include "ir/eval_context.h"

#include <algorithm>

#include "base/cpu_info.h"

namespace tern {

size_t DefaultCollectLimit() { return std::min(size_t{4} << 30, MachineMemory() / 4); }

EvalContext::EvalContext(const OpDef& op, std::vector<const Datum*> inputs, std::vector<Type> types)
    : op_(op), inputs_(std::move(inputs)), types_(std::move(types)), outputs_(types_.size()) {
  packed_.reserve(inputs_.size());
  for (const Datum*& in : inputs_) {
    if (!in || !in->is_tensor() || in->tensor.contiguous()) continue;
    packed_.emplace_back(in->tensor.Contiguous());
    in = &packed_.back();
  }
}

const Datum& EvalContext::InDatum(int i) const {
  TERN_CHECK(Has(i), "op ", op_.name, ": input ", i, " is absent");
  return *inputs_[static_cast<size_t>(i)];
}

const Tensor& EvalContext::In(int i) const {
  const Datum& d = InDatum(i);
  TERN_CHECK(d.is_tensor(), "op ", op_.name, ": input ", i, " is ", d.Describe());
  return d.tensor;
}

Tensor EvalContext::Allocate(int, DType dtype, const Dims& dims) { return Tensor(dtype, dims); }

Tensor& EvalContext::Out(int i, const Dims& dims) {
  if (i >= OutputCount()) {
    const DTypeSet types = op_.OutputPort(i).types;
    scratch_ = Tensor(types & SetOf(DType::kI64) ? DType::kI64 : DType::kF64, dims);
    return scratch_;
  }
  auto& slot = outputs_[static_cast<size_t>(i)];
  slot = Datum(Allocate(i, OutType(i), dims));
  return slot.tensor;
}

void EvalContext::Out(std::string_view port, const Dims& dims, const std::vector<double>& values) {
  FromDoubles(values, Out(port, dims));
}

void EvalContext::OutLongs(std::string_view port, const Dims& dims, const std::vector<int64_t>& values) {
  FromLongs(values, Out(port, dims));
}

void EvalContext::SetOut(int i, Datum value) {
  if (i < OutputCount()) outputs_[static_cast<size_t>(i)] = std::move(value);
}

Result<DatumList> EvalContext::RunSubgraph(int, const DatumList&) {
  return Status(Code::kInternal, StrCat("op ", op_.name, " has no subgraph runner here"));
}

size_t EvalContext::CollectLimit() const { return DefaultCollectLimit(); }

}  // namespace tern
