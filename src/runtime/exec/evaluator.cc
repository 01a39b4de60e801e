// Runs steps with the reference function of their op. Control flow and ops on sequences or strings have only
// a reference function. Other ops use it if no kernel supports the node.
#include <cstring>

#include "base/selection.h"
#include "ir/eval_context.h"
#include "runtime/exec/execution.h"
#include "runtime/exec/runner.h"
#include "runtime/exec/stateful_runner.h"
#include "runtime/memory/owned.h"

namespace tern {

// Gives a reference function access to a StatefulRunner. The destructor calls StatefulRunner::Finish. The
// StatefulRunner must outlive this object.
class RunnerWithStates : public StatefulSubgraph {
 public:
  explicit RunnerWithStates(StatefulRunner& runner) : runner_(runner) {}
  ~RunnerWithStates() override { runner_.Finish(); }
  Status Run(const DatumList& inputs) override { return runner_.Run(inputs); }
  const Datum& Output(int i) const override { return runner_.Output(i); }
  const Dims& StateDims(int state) const override { return runner_.states().dims(state); }
  Status SelectRows(int axis, const std::vector<size_t>& parents) override {
    runner_.SelectRows(axis, parents);
    return {};
  }

 private:
  StatefulRunner& runner_;
};

class ExecutionEvalContext : public EvalContext {
 public:
  ExecutionEvalContext(Engine& engine, Execution& execution, const StepState& step)
      : EvalContext(*step.node().node().op, step.context.inputs, step.types),
        engine_(engine),
        execution_(execution),
        node_(step.node()) {}

  size_t CollectLimit() const override { return engine_.options.collect_limit; }

  Result<DatumList> RunSubgraph(int i, const DatumList& inputs) override {
    const Program& program = *node_.program->subgraphs[static_cast<size_t>(i)];
    if (static_cast<int>(inputs.size()) != program.input_count)
      return InvalidModel("graph '", program.graph->name, "' takes ", program.input_count, " inputs, got ",
                          inputs.size());
    if (!program.states.empty())
      return Status(Code::kInternal,
                    StrCat("graph '", program.graph->name, "' has states and runs only by StartSubgraph"));
    std::vector<BoundValue> bound;
    for (const Datum& d : inputs) bound.push_back({&d, false});
    for (const BoundValue& capture : Captures(i)) bound.push_back(capture);
    TERN_ASSIGN(Execution * sub, engine_.RunnerFor(program).Run(bound));
    DatumList outputs;
    for (size_t k = 0; k < program.outputs.size(); ++k)
      outputs.push_back(Owned(sub->Output(static_cast<int>(k))));
    sub->Release();
    return outputs;
  }

  Result<std::unique_ptr<StatefulSubgraph>> StartSubgraph(int i, const std::vector<SubgraphState>& states,
                                                          const std::vector<Tensor>& values) override {
    const Program& program = *node_.program->subgraphs[static_cast<size_t>(i)];
    TERN_CHECK(states.size() == program.states.size(), "op ", op().name, " has other states than declared");
    StatefulRunner& runner = engine_.StatefulRunnerFor(program);
    TERN_TRY(runner.Start(values, Captures(i)));
    return std::unique_ptr<StatefulSubgraph>(std::make_unique<RunnerWithStates>(runner));
  }

 protected:
  // Returns a tensor of zeros, because reference functions expect zeros.
  Tensor Allocate(int output, DType dtype, const Dims& dims) override {
    const int slot = node_.outputs[static_cast<size_t>(output)];
    const Tensor& planned = execution_.At(slot).tensor;
    Tensor t;
    if (execution_.plan().is_placed(slot) && planned.dtype() == dtype && planned.dims() == dims) {
      t = planned;
    } else {
      const auto count = CheckedCount(dims, dtype);
      if (!count || dtype == DType::kString) return Tensor(dtype, dims);
      auto buffer = engine_.pool.Take(BytesOf(dtype, static_cast<size_t>(*count)));
      if (!buffer.ok()) throw std::bad_alloc();
      t = Tensor::View(std::move(*buffer), dtype, dims);
    }
    if (t.bytes()) std::memset(t.raw(), 0, t.bytes());
    return t;
  }

 private:
  std::vector<BoundValue> Captures(int subgraph) const {
    std::vector<BoundValue> out;
    for (int slot : node_.captures[static_cast<size_t>(subgraph)])
      out.push_back({&execution_.At(slot), execution_.plan().is_known(slot)});
    return out;
  }

  Engine& engine_;
  Execution& execution_;
  const PlanNode& node_;
};

namespace {

// Copies a result to the memory that the plan assigned to it.
Status Store(const Datum& from, Tensor& to) {
  if (!from.is_tensor() || from.tensor.dtype() != to.dtype() || from.tensor.dims() != to.dims())
    return Status(Code::kInternal, StrCat("the reference evaluator returned ", from.Describe(),
                                          ", but shape inference gave ", to.Describe()));
  if (from.tensor.raw() != to.raw() && to.bytes())
    std::memcpy(to.raw(), from.tensor.Contiguous().raw(), to.bytes());
  return {};
}

}  // namespace

Status Execution::RunEvaluator(StepState& step) {
  const Node& node = step.node().node();
  if (!node.op->reference || !HasReference(node.op->name)) return Unsupported(kKernelIsMissing);
  ExecutionEvalContext context(engine_, *this, step);
  TERN_TRY(Guard([&] { return node.op->reference(node.attrs, context); }));
  for (size_t i = 0; i < step.node().outputs.size(); ++i) {
    const int slot = step.node().outputs[i];
    Datum& result = context.outputs()[i];
    if (result.kind == Datum::Kind::kEmpty && node.outputs()[i]->uses.empty()) continue;
    if (plan_->is_placed(slot))
      TERN_TRY(Store(result, At(slot).tensor));
    else
      At(slot) = Owned(std::move(result));
  }
  return {};
}

}  // namespace tern
