#include "runtime/plan/transfers.h"

#include <map>

#include "ir/builder.h"
#include "kernel_api/target.h"

namespace tern {
namespace {

class TransferKernel : public KernelOf<TransferKernel> {
 public:
  TransferKernel(MemorySpace* to, MemorySpace* from) : to_(to), from_(from) {}
  Status Run(RunContext& c) override {
    return CopyBytes(to_, c.Out(0).raw(), from_, c.In(0).raw(), c.In(0).bytes());
  }

 private:
  MemorySpace *to_, *from_;
};

class TransferMaker {
 public:
  TransferMaker(const Target& target, Lowered& lowered, std::vector<Draft>& drafts, Transfers& transfers)
      : target_(target), lowered_(lowered), drafts_(drafts), transfers_(transfers) {}

  Status Make() {
    for (size_t i = 0; i < drafts_.size(); ++i) {
      PlanNode& node = lowered_.nodes[i];
      Draft draft = drafts_[i];
      MemorySpace* memory = MemoryOf(draft);
      for (int& slot : node.inputs)
        if (slot >= 0) TERN_TRY(CopyTo(slot, memory));
      for (auto& captures : node.captures)
        for (int& slot : captures) TERN_TRY(CopyTo(slot, nullptr));
      for (int slot : node.outputs) At(slot).type.memory = memory;
      out_.push_back(std::move(draft));
    }
    for (int& slot : lowered_.outputs) TERN_TRY(CopyTo(slot, nullptr));
    drafts_ = std::move(out_);
    return {};
  }

 private:
  SlotFacts& At(int slot) { return lowered_.slots[static_cast<size_t>(slot)]; }

  // Returns the memory of the draft's operands. A view stays in its input's memory. The reference evaluator
  // runs on the host.
  MemorySpace* MemoryOf(const Draft& draft) {
    if (draft.dynamic) return nullptr;
    const PlanNode& node = *draft.node;
    if (node.node().op->Is(kView) && !node.inputs.empty() && node.inputs[0] >= 0 &&
        !At(node.inputs[0]).is_known())
      return At(node.inputs[0]).type.memory;
    return draft.entry ? target_.MemoryOf(*draft.entry) : nullptr;
  }

  // Sets `slot` to a slot with the same value in this memory. Adds a copy if there is none yet.
  Status CopyTo(int& slot, MemorySpace* memory) {
    if (At(slot).type.memory == memory) return {};
    const auto key = std::make_pair(slot, memory);
    if (const auto it = copies_.find(key); it != copies_.end()) {
      slot = it->second;
      return {};
    }
    const int copy = static_cast<int>(lowered_.slots.size());
    SlotFacts facts = At(slot);
    facts.type.memory = memory;
    const bool constant = facts.is_known() && !facts.refreshed;
    if (facts.is_known()) facts.host_slot = slot;
    if (constant) TERN_TRY(CopyConstant(facts));
    if (!facts.varying.empty()) lowered_.varying.dims.push_back({copy, facts.varying});
    lowered_.slots.push_back(std::move(facts));
    if (!constant) AddStep(slot, copy);  // copies the value in every run, because it can change
    copies_[key] = copy;
    slot = copy;
    return {};
  }

  // `known` stays in host memory, because Kernel::Prepare reads it there.
  static Status CopyConstant(SlotFacts& facts) {
    if (!facts.has_data()) return {};  // the weight was released, because the kernel has packed it
    const Tensor from = facts.known.Contiguous();
    TERN_ASSIGN(Buffer buffer, facts.type.memory->Allocate(from.bytes()));
    TERN_TRY(CopyBytes(facts.type.memory, buffer.data(), nullptr, from.raw(), from.bytes()));
    facts.device_copy = Tensor::View(std::move(buffer), from.dtype(), from.dims());
    return {};
  }

  void AddStep(int from, int to) {
    auto& graph = transfers_.graphs.emplace_back(std::make_unique<Graph>("copies between memories"));
    Value* input = graph->AddInput("", At(from).type);
    Builder(*graph).Open("Identity", {input}, {}, 1);
    auto& program = transfers_.programs.emplace_back(std::make_unique<NodeProgram>());
    program->node = graph->nodes().back().get();
    transfers_.nodes.push_back({program.get(), {from}, {to}, {}});
    Draft draft;
    draft.node = &transfers_.nodes.back();
    draft.is_transfer = true;
    out_.push_back(std::move(draft));
  }

  const Target& target_;
  Lowered& lowered_;
  std::vector<Draft>& drafts_;
  Transfers& transfers_;
  std::vector<Draft> out_;
  std::map<std::pair<int, MemorySpace*>, int> copies_;  // slot of the copy, by original slot and memory
};

}  // namespace

Status AddTransfers(const Target& target, Lowered& lowered, std::vector<Draft>& drafts,
                    Transfers& transfers) {
  if (target.devices().size() == 1) return {};  // all values are on the host
  return TransferMaker(target, lowered, drafts, transfers).Make();
}

std::unique_ptr<Kernel> MakeTransfer(MemorySpace* to, MemorySpace* from) {
  return std::make_unique<TransferKernel>(to, from);
}

}  // namespace tern
