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

KernelQuery QueryFor(const PlanNode& node, const std::vector<SlotFacts>& slots, const Rounding& rounding) {
  const auto at = [&](int slot) -> const SlotFacts& { return slots[static_cast<size_t>(slot)]; };
  KernelQuery query = NodeQuery(node.node());
  query.bf16 = rounding.bf16, query.fast_math = rounding.fast_math;
  for (int slot : node.inputs) {
    query.inputs.push_back(slot < 0 ? TensorInfo{}
                                    : TensorInfo{at(slot).type.dtype, at(slot).type.shape.Concrete()});
    query.known.push_back(slot >= 0 && at(slot).is_known() ? &at(slot).known : nullptr);
    query.weight.push_back(slot >= 0 && at(slot).weight);
  }
  for (int slot : node.outputs) {
    const Shape& shape = at(node.next ? node.intermediate : slot).type.shape;
    query.outputs.push_back({at(slot).type.dtype, shape.Concrete()});
  }
  return query;
}

namespace {

// Outputs of a node are folded if they have at most this many bytes together. Larger outputs are computed in
// the run.
constexpr size_t kMaxFolded = size_t{1} << 20;

class Lowering {
 public:
  Lowering(const Program& program, const Target& target, const Workers& workers, const LowerOptions& options)
      : program_(program), target_(target), workers_(workers), options_(options) {
    out_.slots.resize(static_cast<size_t>(program.slot_count()));
  }

  Result<Lowered> Run(const std::vector<Tensor>& weights, const std::vector<PlanInput>& inputs) {
    TERN_TRY(VisitAll(weights, inputs));
    if (options_.max_length) {
      TERN_ASSIGN(out_.varying, FixLength(out_, *options_.max_length));
    }
    DropDead();
    return std::move(out_);
  }

  // Infers only the types of the graph's outputs, without choosing kernels.
  Result<std::vector<Type>> InferTypes(const std::vector<PlanInput>& inputs) {
    only_types_ = true;
    TERN_TRY(VisitAll(program_.weights, inputs));
    std::vector<Type> types;
    for (int slot : out_.outputs) types.push_back(At(slot).type);
    return types;
  }

 private:
  SlotFacts& At(int slot) { return out_.slots[static_cast<size_t>(slot)]; }

  Status VisitAll(const std::vector<Tensor>& weights, const std::vector<PlanInput>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      out_.slots[i].type = inputs[i].type;
      out_.slots[i].known = inputs[i].known;
    }
    std::vector<int> slots(out_.slots.size());
    std::iota(slots.begin(), slots.end(), 0);
    BindWeights(program_, weights, slots);
    TERN_TRY(Visit(program_, slots));
    for (int slot : program_.outputs) out_.outputs.push_back(slots[static_cast<size_t>(slot)]);
    return {};
  }

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

  // `slots` maps slots of the program to slots of the plan. Inlining a subgraph changes the entries of the
  // node's outputs.
  Status Visit(const Program& program, std::vector<int>& slots) {
    auto mapped = [&](const std::vector<int>& list) {
      std::vector<int> out;
      for (int slot : list) out.push_back(slot < 0 ? -1 : slots[static_cast<size_t>(slot)]);
      return out;
    };
    for (const NodeProgram& source : program.nodes) {
      PlanNode node{&source, mapped(source.inputs), mapped(source.outputs), {}};
      for (const auto& captures : source.captures) node.captures.push_back(mapped(captures));
      const int branch = KnownBranch(node);
      node.has_kernel = branch < 0 && HasKernel(node);
      if (branch >= 0 || (node.node().op->name == "Fused" && !node.has_kernel)) {
        TERN_ASSIGN(const std::vector<int> results, branch >= 0
                                                        ? Inline(node, static_cast<size_t>(branch), {})
                                                        : Inline(node, 0, node.inputs));
        for (size_t i = 0; i < results.size(); ++i)
          slots[static_cast<size_t>(source.outputs[i])] = results[i];
        continue;
      }
      if (!node.has_kernel) TERN_TRY(Infer(node));
      out_.nodes.push_back(std::move(node));
    }
    return {};
  }

  // Returns the index of the branch that an If executes, or -1 if its condition is not known before the run.
  int KnownBranch(const PlanNode& node) {
    if (node.node().op->name != "If") return -1;
    const Tensor& condition = At(node.inputs[0]).known;
    return condition.defined() && condition.size() == 1 ? (LoadLong(condition, 0) ? 0 : 1) : -1;
  }

  // Adds the nodes of a subgraph to the plan. `inputs` contains the slots of the subgraph's inputs. Returns
  // the slots of the node's outputs.
  Result<std::vector<int>> Inline(const PlanNode& node, size_t index, const std::vector<int>& inputs) {
    const Program& body = *node.program->subgraphs[index];
    if (static_cast<size_t>(body.input_count) != inputs.size() || body.outputs.size() < node.outputs.size())
      return InvalidModel(node.node().Describe(), ": its graph '", body.graph->name, "' has ",
                          body.input_count, " inputs and ", body.outputs.size(), " outputs, but must have ",
                          inputs.size(), " and at least ", node.outputs.size());
    if (std::find(inputs.begin(), inputs.end(), -1) != inputs.end())
      return InvalidModel(node.node().Describe(), ": an input is missing, but the body needs it");
    std::vector<int> slots = inputs;
    slots.insert(slots.end(), node.captures[index].begin(), node.captures[index].end());
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

  // Returns whether a kernel of the target computes the node with its subgraphs. If so, sets the types of the
  // outputs.
  bool HasKernel(const PlanNode& node) {
    const Node& own = node.node();
    if (only_types_ || own.subgraphs().empty() || target_.KernelsOf(own.op->name).empty()) return false;
    const bool captures = std::any_of(own.subgraphs().begin(), own.subgraphs().end(),
                                      [](const auto& sub) { return !sub->Captures().empty(); });
    const bool fixed = std::all_of(node.inputs.begin(), node.inputs.end(),
                                   [&](int slot) { return slot < 0 || At(slot).is_static(); });
    if (captures || !fixed) return false;
    const auto outputs = OutputsOf(node);
    if (!outputs.ok()) return false;  // the run reports the error if it reaches the node
    for (size_t i = 0; i < outputs->size(); ++i) At(node.outputs[i]).type = (*outputs)[i].type;
    const bool placeable = std::all_of(node.outputs.begin(), node.outputs.end(), [&](int slot) {
      return At(slot).is_static() && CheckSize(own, At(slot).type).ok();
    });
    if (placeable && target_.Select(QueryFor(node, out_.slots, options_.rounding))) return true;
    for (int slot : node.outputs) At(slot).type = Type();
    return false;
  }

  Result<std::vector<InferOutput>> OutputsOf(const PlanNode& node) {
    std::vector<InferInput> inputs;
    for (int slot : node.inputs) {
      inputs.emplace_back();
      if (slot < 0) continue;
      const SlotFacts& facts = At(slot);
      inputs.back() = {true, facts.type, facts.has_data() ? facts.known : Tensor(), facts.content};
    }
    return InferOutputs(node.node(), std::move(inputs), [&](int index, const std::vector<Type>& types) {
      return InferSubgraph(node, static_cast<size_t>(index), types);
    });
  }

  // Infers the types of a subgraph's outputs from the types of its inputs. Changes neither the graph nor this
  // plan.
  Result<std::vector<Type>> InferSubgraph(const PlanNode& node, size_t index,
                                          const std::vector<Type>& types) {
    const auto& subgraphs = node.program->subgraphs;
    if (index >= subgraphs.size())
      return InvalidModel("has ", subgraphs.size(), " graphs, but needs ", node.node().op->subgraphs.size());
    const Program& body = *subgraphs[index];
    if (static_cast<size_t>(body.input_count) != types.size())
      return InvalidModel("its graph '", body.graph->name, "' takes ", body.input_count,
                          " inputs, but is given ", types.size());
    std::vector<PlanInput> inputs;
    for (size_t i = 0; i < types.size(); ++i) {
      const bool given = types[i].kind != Type::Kind::kUnknown;
      inputs.push_back({given ? types[i] : WithoutDims(body.values[i]->type), {}});
    }
    for (int slot : node.captures[index])
      inputs.push_back({At(slot).type, At(slot).has_data() ? At(slot).known : Tensor()});
    return Lowering(body, target_, workers_, options_).InferTypes(inputs);
  }

  Status Infer(const PlanNode& node) {
    if (!node.program->subgraphs.empty() && !only_types_) return Declare(node);
    TERN_ASSIGN(auto outputs, OutputsOf(node));
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

  // Sets the outputs of a node with subgraphs to their declared kind and dtype. The dims are known
  // only at run time.
  Status Declare(const PlanNode& node) {
    for (size_t i = 0; i < node.outputs.size(); ++i)
      At(node.outputs[i]).type = WithoutDims(node.node().outputs()[i]->type);
    return {};
  }

  static Type WithoutDims(const Type& type) { return type.tensor() ? Type::TensorOf(type.dtype) : type; }

  static Status CheckSize(const Node& node, const Type& type) {
    if (!type.tensor() || !type.shape.fully_known() || type.dtype == DType::kInvalid) return {};
    if (CheckedCount(type.shape.Concrete(), type.dtype)) return {};
    return ResourceExhausted(node.Describe(), ": an output of ", type.ToString(), " is too large for memory");
  }

  // Inference may compute the elements of an output, such as the shape for a Reshape. If it knows all
  // elements, stores them as a known value.
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

  // Ignores failures, because the run reports them if it reaches the node.
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

  // Eliminates dead code. Walks backwards from the outputs and drops nodes whose results are not needed.
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
  const LowerOptions& options_;
  bool only_types_ = false;  // InferTypes was called
  Lowered out_;
};

}  // namespace

Result<Lowered> Lower(const Program& program, const std::vector<Tensor>& weights,
                      const std::vector<PlanInput>& inputs, const Target& target, const Workers& workers,
                      const LowerOptions& options) {
  return Lowering(program, target, workers, options).Run(weights, inputs);
}

}  // namespace tern
