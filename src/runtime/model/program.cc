#include "runtime/model/program.h"

#include <unordered_set>

#include "ir/op_execution.h"

namespace tern {
namespace {

constexpr int kMaxDepth = 200;  // nesting of subgraphs; each level uses a few kilobytes of stack

class ProgramBuilder {
 public:
  ProgramBuilder(const Graph& graph, const FoldedValues& folded) : graph_(graph), folded_(folded) {}

  Result<std::unique_ptr<Program>> Build(int depth) {
    if (depth > kMaxDepth)
      return Unsupported("graph '", graph_.name, "' is nested more than ", kMaxDepth, " deep");
    program_->graph = &graph_;
    program_->depth = depth;
    if (depth == 0) program_->states = graph_.states();
    for (const Value* v : graph_.inputs()) SlotOf(v);
    program_->input_count = program_->slot_count();
    for (const Value* v : graph_.Captures())
      if (!WeightOf(v)) SlotOf(v);
    program_->capture_count = program_->slot_count() - program_->input_count;
    FindLive();
    for (const auto& node : graph_.nodes())
      if (live_.count(node.get())) TERN_TRY(AddNode(*node));
    for (const Value* v : graph_.outputs()) program_->outputs.push_back(SlotOf(v));
    return std::move(program_);
  }

 private:
  const Tensor* WeightOf(const Value* v) const {
    if (v->is_constant()) return &v->constant;
    const auto it = folded_.find(v);
    return it == folded_.end() ? nullptr : &it->second;
  }

  int SlotOf(const Value* v) {
    const auto [it, added] = slots_.emplace(v, program_->slot_count());
    if (added) {
      program_->values.push_back(v);
      const Tensor* weight = WeightOf(v);
      program_->weights.push_back(weight ? weight->Contiguous() : Tensor());
    }
    return it->second;
  }

  // Walks backwards from the outputs. A node is live if one of its outputs is needed and not folded.
  void FindLive() {
    auto need = [&](const Value* v) {
      if (v && !WeightOf(v)) needed_.insert(v);
    };
    for (const Value* v : graph_.outputs()) need(v);
    for (auto it = graph_.nodes().rbegin(); it != graph_.nodes().rend(); ++it) {
      const Node& node = **it;
      bool live = false;
      for (const Value* v : node.outputs()) live |= needed_.count(v) > 0;
      if (!live) continue;
      live_.insert(&node);
      for (const Value* v : node.inputs()) need(v);
      for (const auto& sub : node.subgraphs())
        for (const Value* v : sub->Captures()) need(v);
    }
  }

  static Status AddStates(const Node& node, int index, const Graph& sub, Program& program) {
    for (const SubgraphState& state : StatesOfSubgraph(*node.op, node.attrs, index)) {
      if (static_cast<size_t>(state.input) >= sub.inputs().size() ||
          static_cast<size_t>(state.output) >= sub.outputs().size())
        return InvalidModel(node.Describe(), ": graph '", sub.name, "' has ", sub.inputs().size(),
                            " inputs and ", sub.outputs().size(), " outputs, but a state needs input ",
                            state.input, " and output ", state.output);
      program.states.push_back({sub.inputs()[static_cast<size_t>(state.input)], state.output, state.axis});
    }
    return {};
  }

  Status AddNode(const Node& node) {
    NodeProgram out;
    out.node = &node;
    for (const Value* v : node.inputs()) out.inputs.push_back(v ? SlotOf(v) : -1);
    for (const auto& sub : node.subgraphs()) {
      TERN_ASSIGN(auto program, BuildProgram(*sub, folded_, program_->depth + 1));
      TERN_TRY(AddStates(node, static_cast<int>(out.subgraphs.size()), *sub, *program));
      std::vector<int> captures;
      for (int i = program->input_count; i < program->bound_count(); ++i)
        captures.push_back(SlotOf(program->values[static_cast<size_t>(i)]));
      out.captures.push_back(std::move(captures));
      out.subgraphs.push_back(std::move(program));
    }
    for (const Value* v : node.outputs()) out.outputs.push_back(SlotOf(v));
    program_->nodes.push_back(std::move(out));
    return {};
  }

  const Graph& graph_;
  const FoldedValues& folded_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::unordered_map<const Value*, int> slots_;
  std::unordered_set<const Value*> needed_;
  std::unordered_set<const Node*> live_;
};

}  // namespace

Result<std::unique_ptr<Program>> BuildProgram(const Graph& graph, const FoldedValues& folded, int depth) {
  return ProgramBuilder(graph, folded).Build(depth);
}

}  // namespace tern
