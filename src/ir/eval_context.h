// The argument of an op's Reference function. Contains the input data and the outputs to write.
#pragma once
#include <string_view>
#include <vector>

#include "core/datum.h"
#include "ir/op_def.h"
#include "ir/stateful_subgraph.h"

namespace tern {

// Returns 4 GiB, or a quarter of the machine's memory if that is less. See EvalContext::CollectLimit.
size_t DefaultCollectLimit();

class EvalContext {
 public:
  // `inputs` has a null pointer for each absent input. `types` are the output types that Infer returned for
  // these inputs.
  EvalContext(const OpDef& op, std::vector<const Datum*> inputs, std::vector<Type> types);
  virtual ~EvalContext() = default;

  int InputCount() const { return static_cast<int>(inputs_.size()); }
  int OutputCount() const { return static_cast<int>(types_.size()); }
  bool Has(int i) const { return i < InputCount() && inputs_[static_cast<size_t>(i)] != nullptr; }
  bool Has(std::string_view port) const { return Has(op_.InputIndex(port)); }
  bool Wants(std::string_view port) const { return op_.OutputIndex(port) < OutputCount(); }

  // The tensors are contiguous.
  const Tensor& In(int i) const;
  const Tensor& In(std::string_view port) const { return In(op_.InputIndex(port)); }
  const Datum& InDatum(int i) const;
  const Datum& InDatum(std::string_view port) const { return InDatum(op_.InputIndex(port)); }
  std::vector<double> Doubles(std::string_view port) const { return ToDoubles(In(port)); }
  std::vector<int64_t> Longs(std::string_view port) const { return ToLongs(In(port)); }

  DType OutType(int i) const { return types_[static_cast<size_t>(i)].dtype; }
  DType OutType(std::string_view port) const { return OutType(op_.OutputIndex(port)); }
  const Type& OutputType(int i) const { return types_[static_cast<size_t>(i)]; }
  // Creates output i with these dims and its inferred type. If the node has no output i, returns a scratch
  // tensor whose contents are discarded.
  Tensor& Out(int i, const Dims& dims);
  Tensor& Out(std::string_view port, const Dims& dims) { return Out(op_.OutputIndex(port), dims); }
  void Out(std::string_view port, const Dims& dims, const std::vector<double>& values);
  void OutLongs(std::string_view port, const Dims& dims, const std::vector<int64_t>& values);
  void SetOut(int i, Datum value);
  void SetOut(std::string_view port, Datum value) { SetOut(op_.OutputIndex(port), std::move(value)); }

  // Runs the node's subgraph i. Values that it captures from enclosing graphs are not passed in `inputs`.
  virtual Result<DatumList> RunSubgraph(int i, const DatumList& inputs);

  // Prepares several runs of subgraph i. The states keep their values between these runs. The first run
  // reads `values`. In a session the states must be those that SetExecution declares (ir/op_execution.h).
  // The result must not outlive this context.
  virtual Result<std::unique_ptr<StatefulSubgraph>> StartSubgraph(int i,
                                                                  const std::vector<SubgraphState>& states,
                                                                  const std::vector<Tensor>& values);

  // A node such as Loop collects the outputs of all iterations before it stacks them. Returns the maximum
  // size of these outputs in bytes.
  virtual size_t CollectLimit() const;

  DatumList& outputs() { return outputs_; }
  const OpDef& op() const { return op_; }

 protected:
  virtual Tensor Allocate(int output, DType dtype, const Dims& dims);

 private:
  const OpDef& op_;
  std::vector<const Datum*> inputs_;
  DatumList packed_;  // contiguous copies of strided inputs
  std::vector<Type> types_;
  DatumList outputs_;
  Tensor scratch_;
};

}  // namespace tern
