// KernelQuery describes one node with concrete shapes. Kernel selection and Resize read it.
#pragma once
#include <vector>

#include "core/datum.h"
#include "ir/op_def.h"

namespace tern {

class Graph;

// Type and dims of a tensor. The type is kInvalid for an input that is absent or not a tensor.
struct TensorInfo {
  DType dtype = DType::kInvalid;
  Dims dims;
};

// The operands and results of a query; see KernelQuery.
struct KernelOperands {
  std::vector<TensorInfo> inputs, outputs;
  std::vector<const Tensor*> known;
  std::vector<bool> weight;
  // The node's subgraphs, which read no values of enclosing graphs. The dims of values in a subgraph may be
  // symbolic; only the query has concrete dims. The subgraphs live as long as the model.
  std::vector<const Graph*> subgraphs;
  // True if the f32 values are integers of a quantized op. Then every sum that f32 can represent must be
  // exact. So kernels that multiply by fractions, such as Winograd and FFT convolutions, are not legal.
  bool exact_integers = false;
  // True if matrix products and convolutions with weights may round their operands to bf16.
  bool bf16 = false;
  // True if algorithms may be used whose errors exceed 1e-6 (root mean square, relative to the results). If
  // bf16 is true, this is true as well.
  bool fast_math = false;
};

// IsWeight(i) is true if input i is a constant of the model or is computed only from constants. The data of a
// weight is the same in every plan. Known(i) is the data of input i if it is available before Run. Weights
// and results of shape computations are available. If the data is not available, Known(i) is null. Dynamic
// steps are resized in every run, so all their inputs are Known. In Resize, every input that determines an
// output shape is Known. All other inputs must be read in Run.
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
  // Whether all present inputs and all outputs have this type.
  bool AllTypes(DType t) const;

 private:
  const OpDef& op_;
  const Attrs& attrs_;
};

}  // namespace tern
