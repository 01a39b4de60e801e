// What is asked of kernels: one node with concrete shapes.
#pragma once
#include <vector>

#include "core/datum.h"
#include "ir/op_def.h"

namespace tern {

// A tensor before its data: kInvalid for an input that is absent (or not a tensor).
struct TensorInfo {
  DType dtype = DType::kInvalid;
  Dims dims;
};

// What a query says about the node's operands and results; see KernelQuery.
struct KernelOperands {
  std::vector<TensorInfo> inputs, outputs;
  std::vector<const Tensor*> known;
  std::vector<bool> weight;
  // The numbers are whole and their sums must come out exact as far as f32 holds them: nothing for a kernel
  // that multiplies them by fractions on the way, as fast convolutions (Winograd) do.
  bool whole = false;
  // Products with weights may round their operands to bf16.
  bool bf16 = false;
};

// One node with concrete shapes: what selection and Resize look at.
// Weight: a constant of the model (or computed from constants only), the same in every plan.
// Known: data that is there before the run: weights, results of shape computations for these input shapes,
// and, in a step whose shapes depend on data (resized in every run), the data itself. So every input that the
// output's *shape* depends on is Known in Resize; any other must be read in Run.
class KernelQuery : public KernelOperands {
 public:
  KernelQuery(const OpDef& op, const Attrs& attrs) : op_(op), attrs_(attrs) {}
  KernelQuery(const OpDef& op, const Attrs& attrs, const KernelOperands& operands)
      : KernelOperands(operands), op_(op), attrs_(attrs) {}

  const OpDef& op() const { return op_; }
  const Attrs& attrs() const { return attrs_; }
  int InputCount() const { return static_cast<int>(inputs.size()); }
  int OutputCount() const { return static_cast<int>(outputs.size()); }
  bool Has(int i) const { return InType(i) != DType::kInvalid; }
  DType InType(int i) const {
    return i < InputCount() ? inputs[static_cast<size_t>(i)].dtype : DType::kInvalid;
  }
  const Dims& InDims(int i) const { return inputs[static_cast<size_t>(i)].dims; }
  int InRank(int i) const { return static_cast<int>(InDims(i).size()); }
  DType OutType(int i) const {
    return i < OutputCount() ? outputs[static_cast<size_t>(i)].dtype : DType::kInvalid;
  }
  const Dims& OutDims(int i) const { return outputs[static_cast<size_t>(i)].dims; }
  const Tensor* Known(int i) const { return i < InputCount() ? known[static_cast<size_t>(i)] : nullptr; }
  bool IsWeight(int i) const { return i < InputCount() && weight[static_cast<size_t>(i)]; }
  // All inputs that are there, and all outputs, have this type.
  bool AllTypes(DType t) const;

 private:
  const OpDef& op_;
  const Attrs& attrs_;
};

}  // namespace tern
