// The default implementation of EvalContext::StartSubgraph. Before each run, it passes the states as inputs.
// After each run, it stores the outputs as the new states.
#include "ir/stateful_subgraph.h"

#include <cstring>

#include "ir/eval_context.h"

namespace tern {
namespace {

Tensor Selected(const Tensor& from, int axis, const std::vector<size_t>& parents) {
  const Tensor dense = from.Contiguous();
  Tensor out(dense.dtype(), dense.dims());
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= dense.dim(i);
  const size_t rows = parents.size(), blocks = rows * static_cast<size_t>(outer);
  const size_t bytes = blocks ? dense.bytes() / blocks : 0;
  for (size_t block = 0; bytes && block < blocks; ++block) {
    const size_t parent = block / rows * rows + parents[block % rows];
    std::memcpy(out.data<char>() + block * bytes, dense.data<char>() + parent * bytes, bytes);
  }
  return out;
}

class CopiedStates : public StatefulSubgraph {
 public:
  CopiedStates(EvalContext& context, int subgraph, std::vector<SubgraphState> states,
               std::vector<Tensor> values)
      : context_(context), subgraph_(subgraph), states_(std::move(states)), values_(std::move(values)) {}

  Status Run(const DatumList& inputs) override {
    DatumList all = inputs;
    for (size_t s = 0; s < states_.size(); ++s) {
      if (static_cast<size_t>(states_[s].input) >= all.size())
        return InvalidModel("state ", s, " refers to input number ", states_[s].input,
                            ", but the subgraph has ", all.size(), " inputs");
      all[static_cast<size_t>(states_[s].input)] = Datum(values_[s]);
    }
    TERN_ASSIGN(outputs_, context_.RunSubgraph(subgraph_, all));
    for (size_t s = 0; s < states_.size(); ++s) {
      if (static_cast<size_t>(states_[s].output) >= outputs_.size())
        return InvalidModel("state ", s, " refers to output number ", states_[s].output,
                            ", but the subgraph has ", outputs_.size(), " outputs");
      Datum& present = outputs_[static_cast<size_t>(states_[s].output)];
      if (!present.is_tensor() || present.tensor.dtype() != values_[s].dtype() ||
          present.tensor.rank() != values_[s].rank())
        return InvalidModel("state ", s, " is ", values_[s].Describe(), " and becomes ", present.Describe());
      values_[s] = present.tensor;
      present = Datum();
    }
    return {};
  }

  const Datum& Output(int i) const override { return outputs_[static_cast<size_t>(i)]; }
  const Dims& StateDims(int state) const override { return values_[static_cast<size_t>(state)].dims(); }

  Status SelectRows(int axis, const std::vector<size_t>& parents) override {
    for (Tensor& value : values_) value = Selected(value, axis, parents);
    return {};
  }

 private:
  EvalContext& context_;
  const int subgraph_;
  const std::vector<SubgraphState> states_;
  std::vector<Tensor> values_;
  DatumList outputs_;
};

}  // namespace

Result<std::unique_ptr<StatefulSubgraph>> EvalContext::StartSubgraph(int i,
                                                                     const std::vector<SubgraphState>& states,
                                                                     const std::vector<Tensor>& values) {
  return std::unique_ptr<StatefulSubgraph>(std::make_unique<CopiedStates>(*this, i, states, values));
}

}  // namespace tern
