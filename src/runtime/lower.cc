#include "runtime/lower.h"

#include <algorithm>

#include "runtime/fold.h"
#include "runtime/run_once.h"

namespace tern {

size_t SlotFacts::bytes() const {
  const auto count = CheckedCount(type.shape.Concrete(), type.dtype);
  TERN_CHECK(count, "impossible size of ", type.ToString());
  return BytesOf(type.dtype, static_cast<size_t>(*count));
}

namespace {

constexpr size_t kMaxFolded = size_t{1} << 20;  // of one value; bigger ones are computed in the run

class Lowering {
 public:
  Lowering(const Program& program, const KernelTable& kernels, const Workers& workers)
      : program_(program), kernels_(kernels), workers_(workers) {
    out_.slots.resize(static_cast<size_t>(program.slot_count()));
  }

  Result<Lowered> Run(const std::vector<PlanInput>& inputs) {
    Bind(inputs);
    for (const NodeProgram& node : program_.nodes) TERN_TRY(Infer(node));
    FindLive();
    return std::move(out_);
  }

 private:
  SlotFacts& At(int slot) { return out_.slots[static_cast<size_t>(slot)]; }

  void Bind(const std::vector<PlanInput>& inputs) {
    for (int i = 0; i < program_.slot_count(); ++i) {
      SlotFacts& facts = At(i);
      const Tensor& weight = program_.weights[static_cast<size_t>(i)];
      if (i < program_.bound_count()) {
        facts.type = inputs[static_cast<size_t>(i)].type;
        facts.known = inputs[static_cast<size_t>(i)].known;
      } else if (weight.defined()) {
        facts.type = Type::TensorOf(weight.dtype(), Shape::Of(weight.dims()));
        facts.known = weight;
        facts.weight = true;
      }
    }
  }

  Status Infer(const NodeProgram& node) {
    if (!node.subgraphs.empty()) return Declare(node);
    std::vector<InferInput> inputs;
    for (int slot : node.inputs) {
      inputs.emplace_back();
      if (slot >= 0) inputs.back() = {true, At(slot).type, At(slot).known, At(slot).content};
    }
    TERN_ASSIGN(auto outputs, InferOutputs(*node.node, std::move(inputs)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      SlotFacts& facts = At(node.outputs[i]);
      facts.type = std::move(outputs[i].type);
      facts.content = std::move(outputs[i].content);
      TERN_TRY(CheckSize(*node.node, facts.type));
    }
    FoldContent(node);
    if (Foldable(*node.node) && AllInputsKnown(node)) Fold(node);
    return {};
  }

  // What a subgraph gives arrives as data; only its kind is taken from the declaration.
  Status Declare(const NodeProgram& node) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Type& declared = node.node->outputs()[i]->type;
      At(node.outputs[i]).type = declared.tensor() ? Type::TensorOf(declared.dtype) : declared;
    }
    return {};
  }

  static Status CheckSize(const Node& node, const Type& type) {
    if (!type.tensor() || !type.shape.fully_known() || type.dtype == DType::kInvalid) return {};
    if (CheckedCount(type.shape.Concrete(), type.dtype)) return {};
    return ResourceExhausted(node.Describe(), ": an output of ", type.ToString(), " cannot be stored");
  }

  // Shapes on their way to a Reshape: numbers now that the inputs have dims.
  void FoldContent(const NodeProgram& node) {
    for (int slot : node.outputs) {
      SlotFacts& facts = At(slot);
      if (!facts.content || !facts.is_static() || !IsInt(facts.type.dtype) || facts.type.shape.rank() > 1) continue;
      std::vector<int64_t> values;
      for (const Dim& d : *facts.content)
        if (d.known()) values.push_back(d.value());
      Tensor t(facts.type.dtype, facts.type.shape.Concrete());
      if (values.size() != facts.content->size() || t.size() != static_cast<int64_t>(values.size())) continue;
      FromLongs(values, t);
      facts.known = std::move(t);
    }
  }

  bool AllInputsKnown(const NodeProgram& node) {
    for (int slot : node.inputs)
      if (slot >= 0 && !At(slot).is_known()) return false;
    return true;
  }

  void Fold(const NodeProgram& node) {
    size_t bytes = 0;
    bool done = true;
    for (int slot : node.outputs) {
      if (!At(slot).is_static()) return;
      bytes += At(slot).bytes();
      done &= At(slot).is_known();
    }
    if (done) return;
    if (node.node->op->Is(kView)) {
      SlotFacts& y = At(node.outputs[0]);
      y.known = Tensor::View(At(node.inputs[0]).known.buffer(), y.type.dtype, y.type.shape.Concrete());
    } else if (bytes <= kMaxFolded) {
      Evaluate(node);
    }
  }

  // A failure here is not reported: the run does it, if the node is reached.
  void Evaluate(const NodeProgram& node) {
    DatumList data(node.inputs.size());
    std::vector<const Datum*> pointers(node.inputs.size(), nullptr);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] < 0) continue;
      data[i] = Datum(At(node.inputs[i]).known);
      pointers[i] = &data[i];
    }
    auto result = Guard([&] { return RunOnce(*node.node, pointers, kernels_, workers_); });
    if (!result.ok()) return;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Datum& d = (*result)[i];
      SlotFacts& facts = At(node.outputs[i]);
      if (d.is_tensor() && d.tensor.dims() == facts.type.shape.Concrete()) facts.known = d.tensor;
    }
  }

  void FindLive() {
    std::vector<bool> needed(out_.slots.size());
    auto need = [&](int slot) {
      if (slot >= 0) needed[static_cast<size_t>(slot)] = !At(slot).is_known();
    };
    for (int slot : program_.outputs) need(slot);
    for (size_t n = program_.nodes.size(); n-- > 0;) {
      const NodeProgram& node = program_.nodes[n];
      bool lives = false;
      for (int slot : node.outputs) lives |= needed[static_cast<size_t>(slot)];
      if (!lives) continue;
      out_.live.push_back(static_cast<int>(n));
      for (int slot : node.inputs) need(slot);
      for (const auto& captures : node.captures)
        for (int slot : captures) need(slot);
    }
    std::reverse(out_.live.begin(), out_.live.end());
  }

  const Program& program_;
  const KernelTable& kernels_;
  const Workers& workers_;
  Lowered out_;
};

}  // namespace

Result<Lowered> Lower(const Program& program, const std::vector<PlanInput>& inputs, const KernelTable& kernels,
                      const Workers& workers) {
  return Lowering(program, kernels, workers).Run(inputs);
}

}  // namespace tern
