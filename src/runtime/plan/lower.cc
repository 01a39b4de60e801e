#include "runtime/plan/lower.h"

#include <algorithm>
#include <numeric>

#include "runtime/exec/run_once.h"
#include "runtime/model/fold.h"

namespace tern {

size_t SlotFacts::bytes() const {
  const auto count = CheckedCount(type.shape.Concrete(), type.dtype);
  TERN_CHECK(count, "impossible size of ", type.ToString());
  return BytesOf(type.dtype, static_cast<size_t>(*count));
}

bool ReadsHostValue(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [&](int slot) { return slot >= 0 && slots[static_cast<size_t>(slot)].is_host(); });
}

bool Varies(const PlanNode& node, const std::vector<SlotFacts>& slots) {
  const auto varies = [&](int slot) {
    return slot >= 0 &&
           (!slots[static_cast<size_t>(slot)].varying.empty() || slots[static_cast<size_t>(slot)].refreshed);
  };
  return std::any_of(node.inputs.begin(), node.inputs.end(), varies) ||
         std::any_of(node.outputs.begin(), node.outputs.end(), varies);
}

namespace {

constexpr size_t kMaxFolded = size_t{1}
                              << 20;  // bytes of a node's outputs; larger ones are computed in the run

class Lowering {
 public:
  Lowering(const Program& program, const Target& target, const Workers& workers,
           std::optional<int64_t> max_length)
      : program_(program), target_(target), workers_(workers), max_length_(max_length) {
    out_.slots.resize(static_cast<size_t>(program.slot_count()));
  }

  Result<Lowered> Run(const std::vector<Tensor>& weights, const std::vector<PlanInput>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      out_.slots[i].type = inputs[i].type;
      out_.slots[i].known = inputs[i].known;
    }
    std::vector<int> slots(out_.slots.size());
    std::iota(slots.begin(), slots.end(), 0);
    BindWeights(program_, weights, slots);
    TERN_TRY(Visit(program_, slots));
    for (int slot : program_.outputs) out_.outputs.push_back(slots[static_cast<size_t>(slot)]);
    if (max_length_) {
      TERN_ASSIGN(out_.varying, FixLength(out_, *max_length_));
    }
    DropDead();
    return std::move(out_);
  }

 private:
  SlotFacts& At(int slot) { return out_.slots[static_cast<size_t>(slot)]; }

  void BindWeights(const Program& program, const std::vector<Tensor>& weights,
                   const std::vector<int>& slots) {
    for (size_t i = static_cast<size_t>(program.bound_count()); i < weights.size(); ++i) {
      const Tensor& weight = weights[i];
      if (!weight.defined()) continue;
      SlotFacts& facts = At(slots[i]);
      facts.type = Type::TensorOf(weight.dtype(), Shape::Of(weight.dims()));
      facts.known = weight;
      facts.weight = true;
    }
  }

  // slots: maps slots of the program to slots of the plan. Inlining a branch changes the slots of the If's
  // outputs.
  Status Visit(const Program& program, std::vector<int>& slots) {
    auto mapped = [&](const std::vector<int>& list) {
      std::vector<int> out;
      for (int slot : list) out.push_back(slot < 0 ? -1 : slots[static_cast<size_t>(slot)]);
      return out;
    };
    for (const NodeProgram& source : program.nodes) {
      PlanNode node{&source, mapped(source.inputs), mapped(source.outputs), {}};
      for (const auto& captures : source.captures) node.captures.push_back(mapped(captures));
      if (const int branch = KnownBranch(node); branch >= 0) {
        TERN_ASSIGN(const std::vector<int> results, Inline(node, static_cast<size_t>(branch)));
        for (size_t i = 0; i < results.size(); ++i)
          slots[static_cast<size_t>(source.outputs[i])] = results[i];
        continue;
      }
      TERN_TRY(Infer(node));
      out_.nodes.push_back(std::move(node));
    }
    return {};
  }

  // The branch of an If whose condition is known from constants and shapes; else -1.
  int KnownBranch(const PlanNode& node) {
    if (node.node().op->name != "If") return -1;
    const Tensor& condition = At(node.inputs[0]).known;
    return condition.defined() && condition.size() == 1 ? (LoadLong(condition, 0) ? 0 : 1) : -1;
  }

  // Adds the nodes of the branch to the plan. Returns the slots of the node's outputs.
  Result<std::vector<int>> Inline(const PlanNode& node, size_t branch) {
    const Program& body = *node.program->subgraphs[branch];
    if (body.input_count != 0 || body.outputs.size() < node.outputs.size())
      return InvalidModel(node.node().Describe(), ": a branch has ", body.input_count, " inputs and ",
                          body.outputs.size(), " outputs, but must have 0 and ", node.outputs.size());
    std::vector<int> slots = node.captures[branch];
    for (int i = body.bound_count(); i < body.slot_count(); ++i) {
      slots.push_back(static_cast<int>(out_.slots.size()));
      out_.slots.emplace_back();
    }
    BindWeights(body, body.weights, slots);
    TERN_TRY(Visit(body, slots));
    std::vector<int> results;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      results.push_back(slots[static_cast<size_t>(body.outputs[i])]);
    return results;
  }

  Status Infer(const PlanNode& node) {
    if (!node.program->subgraphs.empty()) return Declare(node);
    std::vector<InferInput> inputs;
    for (int slot : node.inputs) {
      inputs.emplace_back();
      if (slot < 0) continue;
      const SlotFacts& facts = At(slot);
      inputs.back() = {true, facts.type, facts.has_data() ? facts.known : Tensor(), facts.content};
    }
    TERN_ASSIGN(auto outputs, InferOutputs(node.node(), std::move(inputs)));
    for (size_t i = 0; i < outputs.size(); ++i) {
      SlotFacts& facts = At(node.outputs[i]);
      facts.type = std::move(outputs[i].type);
      facts.content = std::move(outputs[i].content);
      TERN_TRY(CheckSize(node.node(), facts.type));
    }
    FoldContent(node);
    if (Foldable(node.node()) && HasAllInputs(node)) Fold(node);
    return {};
  }

  // The dims of a subgraph's outputs are known only at run time; kind and dtype are those declared.
  Status Declare(const PlanNode& node) {
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Type& declared = node.node().outputs()[i]->type;
      At(node.outputs[i]).type = declared.tensor() ? Type::TensorOf(declared.dtype) : declared;
    }
    return {};
  }

  static Status CheckSize(const Node& node, const Type& type) {
    if (!type.tensor() || !type.shape.fully_known() || type.dtype == DType::kInvalid) return {};
    if (CheckedCount(type.shape.Concrete(), type.dtype)) return {};
    return ResourceExhausted(node.Describe(), ": an output of ", type.ToString(), " is too large for memory");
  }

  // Stores contents that inference computed, such as the shape for a Reshape: all dims are known now.
  void FoldContent(const PlanNode& node) {
    for (int slot : node.outputs) {
      SlotFacts& facts = At(slot);
      if (!facts.content || !facts.is_static() || !IsInt(facts.type.dtype) || facts.type.shape.rank() > 1)
        continue;
      std::vector<int64_t> values;
      for (const Dim& d : *facts.content)
        if (d.known()) values.push_back(d.value());
      Tensor t(facts.type.dtype, facts.type.shape.Concrete());
      if (values.size() != facts.content->size() || t.size() != static_cast<int64_t>(values.size())) continue;
      FromLongs(values, t);
      facts.known = std::move(t);
    }
  }

  bool HasAllInputs(const PlanNode& node) {
    for (int slot : node.inputs)
      if (slot >= 0 && !At(slot).has_data()) return false;
    return true;
  }

  void Fold(const PlanNode& node) {
    size_t bytes = 0;
    bool done = true;
    for (int slot : node.outputs) {
      if (!At(slot).is_static()) return;
      bytes += At(slot).bytes();
      done &= At(slot).is_known();
    }
    if (done) return;
    if (node.node().op->Is(kView)) {
      SlotFacts& y = At(node.outputs[0]);
      y.known = Tensor::View(At(node.inputs[0]).known.buffer(), y.type.dtype, y.type.shape.Concrete());
    } else if (bytes <= kMaxFolded) {
      Evaluate(node);
    }
  }

  // Ignores failures: the run reports them if it reaches the node.
  void Evaluate(const PlanNode& node) {
    DatumList data(node.inputs.size());
    std::vector<const Datum*> pointers(node.inputs.size(), nullptr);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] < 0) continue;
      data[i] = Datum(At(node.inputs[i]).known);
      pointers[i] = &data[i];
    }
    auto result = Guard([&] { return RunOnce(node.node(), pointers, target_, workers_); });
    if (!result.ok()) return;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Datum& d = (*result)[i];
      SlotFacts& facts = At(node.outputs[i]);
      if (d.is_tensor() && d.tensor.dims() == facts.type.shape.Concrete()) facts.known = d.tensor;
    }
  }

  // Dead-code elimination: walks backwards from the outputs and drops nodes whose results are not needed.
  void DropDead() {
    std::vector<bool> needed(out_.slots.size());
    auto need = [&](int slot) {
      if (slot >= 0) needed[static_cast<size_t>(slot)] = !At(slot).is_known();
    };
    for (int slot : out_.outputs) need(slot);
    std::vector<PlanNode> live;
    for (size_t n = out_.nodes.size(); n-- > 0;) {
      PlanNode& node = out_.nodes[n];
      if (std::none_of(node.outputs.begin(), node.outputs.end(),
                       [&](int s) { return needed[static_cast<size_t>(s)]; }))
        continue;
      for (int slot : node.inputs) need(slot);
      for (const auto& captures : node.captures)
        for (int slot : captures) need(slot);
      live.push_back(std::move(node));
    }
    std::reverse(live.begin(), live.end());
    out_.nodes = std::move(live);
  }

  const Program& program_;
  const Target& target_;
  const Workers& workers_;
  const std::optional<int64_t> max_length_;
  Lowered out_;
};

}  // namespace

Result<Lowered> Lower(const Program& program, const std::vector<Tensor>& weights,
                      const std::vector<PlanInput>& inputs, const Target& target, const Workers& workers,
                      std::optional<int64_t> max_length) {
  return Lowering(program, target, workers, max_length).Run(weights, inputs);
}

}  // namespace tern
