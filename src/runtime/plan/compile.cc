// Plan::Compile infers shapes, chooses kernels, decides which values share memory, and assigns offsets.
#include <algorithm>

#include "ir/bind_symbols.h"
#include "runtime/memory/memory_planner.h"
#include "runtime/model/representative.h"
#include "runtime/plan/batch_split.h"
#include "runtime/plan/bf16_storage.h"
#include "runtime/plan/copy_kernel.h"
#include "runtime/plan/draft_order.h"
#include "runtime/plan/fuse_next.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_states.h"
#include "runtime/plan/transfers.h"
#include "runtime/plan/views.h"

namespace tern {

class PlanCompiler {
 public:
  PlanCompiler(Engine& engine, const Program& program, const LengthRange* range)
      : range_(range),
        engine_(engine),
        program_(program),
        plan_(new Plan(program)),
        weights_(program.depth == 0 ? engine.model->residency().Weights() : program.weights) {}

  Result<std::shared_ptr<const Plan>> Run(const std::vector<BoundValue>& bound) {
    TERN_ASSIGN(
        lowered_,
        Lower(program_, weights_, DescribeInputs(bound), engine_.model->target(), engine_.workers,
              {engine_.model->rounding(), range_ ? std::optional(range_->max_length) : std::nullopt}));
    weights_.clear();  // no longer refers to the weights, so that releasing a weight frees its memory
    auto slices = std::make_shared<BatchSlices>();
    if (!range_) SplitBatch(lowered_, *slices, engine_.model->value_cache());
    const bool split = !slices->graphs.empty();
    plan_->batch_slices_ = std::move(slices);
    Tune([&](const PlanNode& node) { return MayFuseNext(node); });
    FuseNextNodes();
    Tune([](const PlanNode&) { return true; });
    for (const PlanNode& node : lowered_.nodes) {
      TERN_ASSIGN(Draft draft, MakeDraft(node));
      drafts_.push_back(std::move(draft));
    }
    const auto query_for = [&](const PlanNode& node) { return QueryFor(node); };
    if (range_) TERN_TRY(CheckLengths(lowered_, drafts_, range_->max_length, query_for));
    StoreAsBf16();
    TERN_TRY(AddTransfers(engine_.model->target(), lowered_, drafts_, plan_->transfers_));
    plan_->states_ = PlanStates(program_, lowered_, drafts_, query_for);
    // The steps of a split batch keep their order, because it is chosen for cache reuse.
    if (!split) drafts_ = OrderDrafts(program_.bound_count(), lowered_, drafts_);
    ChooseLayout();
    MakeSlots();
    TERN_TRY(PackLarge());
    for (Draft& draft : drafts_)
      if (!draft.skip) TERN_TRY(AddStep(draft));
    TERN_TRY(PlaceMemory());
    plan_->outputs_ = lowered_.outputs;
    plan_->varying_ = std::move(lowered_.varying);
    FindReleases();
    // The move keeps the addresses of the elements, to which the steps point.
    plan_->nodes_ = std::move(lowered_.nodes);
    DropReleasedWeights();
    return std::shared_ptr<const Plan>(std::move(plan_));
  }

 private:
  static constexpr size_t kMaxKnownCapture = 1024;          // bytes; enough for shapes, axes and scalars
  static constexpr size_t kLargeWeight = size_t{16} << 20;  // bytes; see PackLarge

  const SlotFacts& Facts(int slot) const { return lowered_.slots[static_cast<size_t>(slot)]; }

  std::vector<PlanInput> DescribeInputs(const std::vector<BoundValue>& bound) {
    std::vector<PlanInput> inputs(bound.size());
    plan_->keys_.resize(bound.size());
    for (size_t i = 0; i < bound.size(); ++i) {
      const Datum& d = *bound[i].datum;
      BoundKey& key = plan_->keys_[i];
      key.kind = d.kind;
      inputs[i].type = TypeOf(d);
      if (d.is_tensor()) {
        key.dtype = d.tensor.dtype();
        key.dims = d.tensor.dims();
        BindSymbols(program_.values[i]->type, key.dims, symbols_);
        const bool small = d.tensor.bytes() <= kMaxKnownCapture && key.dtype != DType::kString;
        if (range_) {
          key.varying = range_->inputs[i];
          for (size_t k = 0; k < key.varying.size(); ++k)
            inputs[i].type.shape.dims[k] = SymbolicDim(key.varying[k]);
        }
        if (bound[i].known && small) inputs[i].known = key.known = d.tensor.Clone();
      } else if (program_.values[i]->type.kind != Type::Kind::kUnknown) {
        // An empty sequence or a missing optional has no element type, so the declared type is used.
        inputs[i].type = program_.values[i]->type;
      }
    }
    return inputs;
  }

  // Returns whether the node becomes a dynamic step. This is so if one of its values is not a numeric tensor
  // or has a shape that depends on data, if the node has subgraphs and no kernel, or if only the host can run
  // it.
  bool IsDynamic(const PlanNode& node) const {
    if (node.has_kernel) return false;
    bool dynamic =
        node.node().op->Is(kControlFlow) || !node.node().subgraphs().empty() || node.node().op->Is(kHostOnly);
    auto check = [&](int slot) {
      if (slot >= 0) dynamic |= !Facts(slot).is_static();
    };
    for (int slot : node.inputs) check(slot);
    for (int slot : node.outputs) check(slot);
    return dynamic;
  }

  Result<Draft> MakeDraft(const PlanNode& node) {
    Draft draft;
    draft.node = &node;
    draft.dynamic = IsDynamic(node);
    if (draft.dynamic) return draft;
    Choice why;
    TERN_ASSIGN(const KernelEntry* chosen,
                engine_.model->Choose(node.node(), QueryFor(node), engine_.workers.threads(),
                                      engine_.options.explain ? &why : nullptr));
    // Another session may have measured kernels since FuseNext, so `chosen` can differ from the kernel that
    // fuses.
    draft.entry = node.fused_entry ? node.fused_entry : chosen;
    if (engine_.options.explain && draft.entry == chosen && chosen) plan_->choices_.push_back(std::move(why));
    return draft;
  }

  void StoreAsBf16() {
    if (!engine_.model->bf16()) return;
    for (const int slot :
         FindBf16Storage(lowered_, drafts_, [&](const PlanNode& node) { return QueryFor(node); }))
      lowered_.slots[static_cast<size_t>(slot)].type.dtype = DType::kBF16;
  }

  bool MayFuseNext(const PlanNode& node) const {
    const auto entries = engine_.model->target().KernelsOf(node.node().op->name);
    return std::any_of(entries.begin(), entries.end(),
                       [](const KernelEntry* e) { return bool(e->can.fuses_next); });
  }

  // Measures the kernels of the nodes for which `wanted` is true. Runs before weights are released, because a
  // kernel packs its weights when it is measured.
  void Tune(const std::function<bool(const PlanNode&)>& wanted) const {
    Tuner* tuner = engine_.model->tuner();
    if (!tuner) return;
    std::vector<KernelQuery> queries;
    for (const PlanNode& node : lowered_.nodes) {
      if (!wanted(node) || IsDynamic(node) || engine_.model->residency().HasReleased(node.node())) continue;
      queries.push_back(QueryFor(node));
      if (auto representative = RepresentativeQuery(node.node(), queries.back()))
        queries.push_back(representative->query);
    }
    tuner->Tune(queries, engine_.model->target(), engine_.workers,
                {engine_.options.memory_limit, engine_.model->weight_bytes(), engine_.stop});
  }

  // Chooses one of two layouts. In the strided layout, kernels write the inputs of a Concat directly into its
  // result with a row stride. In the plain layout, a step copies these inputs. The strided layout extends the
  // lifetime of the result, so it is used only if it needs no more memory than the plain layout.
  void ChooseLayout() {
    std::vector<Draft> strided_drafts = drafts_;
    Layout strided = MakeLayout(program_.bound_count(), lowered_, strided_drafts, [&](const Draft& draft) {
      return draft.entry && draft.entry->can.row_stride && draft.entry->can.row_stride(QueryFor(*draft.node));
    });
    plan_->layout_ = MakeLayout(program_.bound_count(), lowered_, drafts_);
    if (ArenaBytes(strided) > ArenaBytes(plan_->layout_)) return;
    plan_->layout_ = std::move(strided);
    drafts_ = std::move(strided_drafts);
  }

  // Ignores failures of Choose, because MakeDraft fails in the same way and reports them.
  void FuseNextNodes() {
    const auto query_for = [&](const PlanNode& node) { return QueryFor(node); };
    const auto entry_for = [&](const PlanNode& node) -> const KernelEntry* {
      if (!MayFuseNext(node))
        return nullptr;  // its kernels are not measured yet, so it is too early to choose one
      const auto entry = engine_.model->Choose(node.node(), query_for(node), engine_.workers.threads());
      return entry.ok() ? *entry : nullptr;
    };
    FuseNext(lowered_, entry_for, query_for);
  }

  KernelQuery QueryFor(const PlanNode& node) const {
    return tern::QueryFor(node, lowered_.slots, engine_.model->rounding());
  }

  void MakeSlots() {
    const size_t count = lowered_.slots.size();
    plan_->slots_.resize(count);
    plan_->known_.resize(count);
    plan_->placed_.resize(count);
    plan_->residents_.resize(plan_->layout_.storages.size());
    for (size_t i = 0; i < count; ++i) {
      const SlotFacts& facts = lowered_.slots[i];
      const Place& place = plan_->layout_.places[i];
      plan_->known_[i] = facts.is_known();
      plan_->host_slots_.push_back(facts.host_slot < 0 ? static_cast<int>(i) : facts.host_slot);
      if (place.storage >= 0) {
        plan_->placed_[i] = true;
        plan_->residents_[static_cast<size_t>(place.storage)].push_back(static_cast<int>(i));
        const Buffer unset =
            Buffer::Borrow(nullptr, facts.bytes(), nullptr);  // an Execution sets the address
        plan_->slots_[i] = Datum(Tensor::View(unset, facts.type.dtype, facts.type.shape.Concrete()));
      } else if (facts.is_known()) {
        plan_->slots_[i] = Datum(facts.device_copy.defined() ? facts.device_copy : facts.known);
      }
    }
  }

  Status AddStep(const Draft& draft) {
    Step step;
    step.node = draft.node;
    step.dynamic = draft.dynamic;
    step.entry = draft.entry;
    step.on_state = draft.on_state;
    step.memory = draft.entry ? engine_.model->target().MemoryOf(*draft.entry) : nullptr;
    step.varying = draft.on_state || (!draft.dynamic && Varies(*draft.node, lowered_.slots));
    const Node& node = draft.node->node();
    for (size_t i = 0; i < draft.node->outputs.size(); ++i) {
      // Outputs of a dynamic node with subgraphs have their declared types. A Loop without iterations needs
      // the declared dims for its empty stacked outputs.
      step.types.push_back(node.subgraphs().empty() || !draft.dynamic
                               ? Facts(draft.node->outputs[i]).type
                               : WithSymbols(node.outputs()[i]->type, symbols_));
    }
    for (int slot : draft.node->inputs) step.weights.push_back(slot >= 0 && Facts(slot).weight);
    if (draft.dynamic) {
      const bool host = node.op->Is(kHostOnly) || ReadsHostValue(*draft.node, lowered_.slots);
      step.kernel_name = node.op->Is(kControlFlow) ? "control flow" : host ? "host" : "reference";
    } else if (draft.is_transfer) {
      step.kernel =
          MakeTransfer(Facts(draft.node->outputs[0]).type.memory, Facts(draft.node->inputs[0]).type.memory);
      step.kernel_name = "transfer";
    } else if (draft.is_copy) {
      step.kernel = MakeCopy(draft);
      step.kernel_name = "copy";
    } else if (draft.entry) {
      TERN_TRY(PrepareKernel(step, {draft.node->next != nullptr, draft.row_stride}));
    } else {
      step.kernel_name = "reference";
      plan_->fallbacks_.push_back(&node);
    }
    Connect(step, draft);
    plan_->steps_.push_back(std::move(step));
    return {};
  }

  std::unique_ptr<Kernel> MakeCopy(const Draft& draft) const {
    auto kernel = std::make_unique<CopyKernel>();
    const Type& output = Facts(draft.node->outputs[0]).type;
    const bool rows = !ConcatOffsets(*draft.node, lowered_.slots);
    for (const auto& [slot, offset] : draft.copies) {
      kernel->parts.push_back({offset, Facts(slot).bytes()});
      if (!rows) continue;
      kernel->parts.back().row = Facts(slot).type.shape.Concrete().back();
      kernel->parts.back().output_row = output.shape.Concrete().back();
      kernel->width = BitWidth(output.dtype) / 8;
    }
    return kernel;
  }

  // Packs the large weights before all others, in the order of decreasing size. While a weight is packed, the
  // weight and its pack are both in memory. A pack can be larger than its weight, so memory use grows with
  // each packed weight. So the peak of memory is lowest if the largest weight is packed first.
  Status PackLarge() {
    if (program_.depth != 0) return {};
    std::vector<std::pair<size_t, const Draft*>> large;
    for (const Draft& draft : drafts_) {
      if (draft.skip || draft.dynamic || draft.is_copy || !draft.entry) continue;
      size_t bytes = 0;
      for (int slot : draft.node->inputs)
        if (slot >= 0 && Facts(slot).weight) bytes = std::max(bytes, Facts(slot).known.bytes());
      if (bytes >= kLargeWeight) large.emplace_back(bytes, &draft);
    }
    std::stable_sort(large.begin(), large.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [bytes, draft] : large) {
      TERN_TRY(Prepared(*draft->node, *draft->entry, QueryFor(*draft->node)).status());
      ReleasePacked(*draft->node);
    }
    return {};
  }

  Status PrepareKernel(Step& step, const ResizeContext::Placement& result) {
    TERN_CHECK(!result.with_next || step.entry->can.fuses_next, step.entry->name,
               " cannot fuse the next step");
    TERN_CHECK(!result.row_stride || step.entry->can.row_stride, step.entry->name,
               " cannot write with a row stride");
    const KernelQuery query = QueryFor(*step.node);
    const Node& node = step.node->node();
    TERN_ASSIGN(step.kernel, Prepared(*step.node, *step.entry, query));
    ResizeContext resize(query, engine_.workers.threads(), result);
    Status status = step.kernel->Resize(resize);
    if (!status.ok())
      return Status(status.code(),
                    StrCat(node.Describe(), ", kernel ", step.entry->name, ": ", status.message()));
    step.scratch = resize.scratch();
    step.kernel_name = step.entry->name.c_str();
    ReleasePacked(*step.node);
    return {};
  }

  // Returns the prepared kernel. Releases each weight as soon as it is packed, so that not all weights and
  // all packs are in memory at the same time.
  Result<std::unique_ptr<Kernel>> Prepared(const PlanNode& node, const KernelEntry& entry,
                                           const KernelQuery& query) {
    const auto packed = [&](int input) {
      const int slot = node.inputs[static_cast<size_t>(input)];
      if (IsOwnSlot(slot) && engine_.model->residency().Release(slot)) DropWeight(slot);
    };
    return engine_.model->kernel_store().Prepared(node.node(), entry, query, packed, engine_.stop);
  }

  void ReleasePacked(const PlanNode& node) {
    for (int slot : node.inputs)
      if (IsOwnSlot(slot) && engine_.model->residency().Release(slot)) DropWeight(slot);
  }

  // Returns whether the slot belongs to the program of the main graph. Only weights of the main graph can be
  // released.
  bool IsOwnSlot(int slot) const { return program_.depth == 0 && slot >= 0 && slot < program_.slot_count(); }

  // Replaces a released weight in this plan by a tensor without data.
  void DropWeight(int slot) {
    const auto at = static_cast<size_t>(slot);
    const Tensor weight = engine_.model->residency().Weight(slot);
    lowered_.slots[at].known = weight;
    plan_->slots_[at] = Datum(weight);
  }

  // Drops the weights that another session has released during this compilation.
  void DropReleasedWeights() {
    if (program_.depth != 0) return;
    for (int slot = program_.bound_count(); slot < program_.slot_count(); ++slot) {
      const Datum& d = plan_->slots_[static_cast<size_t>(slot)];
      if (!d.is_tensor() || !d.tensor.defined() || !d.tensor.raw() || !Facts(slot).weight) continue;
      if (!engine_.model->residency().Weight(slot).raw()) DropWeight(slot);
    }
  }

  static void Connect(Step& step, const Draft& draft) {
    if (draft.is_copy)
      for (const auto& [slot, offset] : draft.copies) step.inputs.push_back(slot);
    else
      step.inputs = draft.node->inputs;
    step.outputs = draft.node->outputs;
  }

  // Assigns offsets to storages and scratch memory, in each memory space.
  Status PlaceMemory() {
    const auto& storages = plan_->layout_.storages;
    plan_->offsets_.assign(storages.size(), 0);
    size_t total = 0;
    for (const Device& device : engine_.model->target().devices()) {
      const size_t bytes = PlaceIn(device.memory);
      if (bytes || !device.memory) plan_->arenas_.emplace_back(device.memory, bytes);
      total += bytes;
    }
    if (total > engine_.options.memory_limit)
      return ResourceExhausted("graph '", program_.graph->name, "' needs ", total,
                               " bytes for its intermediate values, but the limit is ",
                               engine_.options.memory_limit);
    return {};
  }

  // Assigns offsets in one memory. Returns the bytes that the plan needs there.
  size_t PlaceIn(MemorySpace* memory) {
    const auto& storages = plan_->layout_.storages;
    std::vector<Block> blocks(storages.size());
    for (size_t i = 0; i < storages.size(); ++i)
      if (!storages[i].external && storages[i].parent < 0 && storages[i].memory == memory)
        blocks[i] = {storages[i].bytes, storages[i].first, storages[i].last};
    size_t next = 0;
    for (size_t t = 0; t < drafts_.size(); ++t) {
      if (drafts_[t].skip) continue;
      const Step& step = plan_->steps_[next++];
      blocks.push_back({step.memory == memory ? step.scratch : 0, static_cast<int>(t), static_cast<int>(t)});
    }
    const Offsets offsets = PlanOffsets(blocks);
    for (size_t i = 0; i < storages.size(); ++i)
      if (storages[i].memory == memory) plan_->offsets_[i] = offsets.at[i];
    for (size_t i = 0; i < plan_->steps_.size(); ++i)
      if (plan_->steps_[i].memory == memory)
        plan_->steps_[i].scratch_offset = offsets.at[storages.size() + i];
    return offsets.total;
  }

  // Finds the last step that uses each dynamic value. The memory of the value is free after this step.
  void FindReleases() {
    std::vector<bool> seen(plan_->slots_.size());
    for (size_t i = 0; i < seen.size(); ++i)
      seen[i] = plan_->known_[i] || plan_->placed_[i] || static_cast<int>(i) < program_.bound_count();
    for (int slot : plan_->outputs_) seen[static_cast<size_t>(slot)] = true;
    for (size_t t = plan_->steps_.size(); t-- > 0;) {
      Step& step = plan_->steps_[t];
      auto release = [&](int slot) {
        if (slot < 0 || seen[static_cast<size_t>(slot)]) return;
        seen[static_cast<size_t>(slot)] = true;
        step.release.push_back(slot);
      };
      for (int slot : step.node->inputs) release(slot);
      for (int slot : step.node->outputs) release(slot);
      for (const auto& captures : step.node->captures)
        for (int slot : captures) release(slot);
    }
  }

  const LengthRange* range_;
  SymbolValues symbols_;  // sizes of the symbols in the inputs' dims
  Engine& engine_;
  const Program& program_;
  std::unique_ptr<Plan> plan_;
  std::vector<Tensor> weights_;  // by slot, at the start of the compilation
  Lowered lowered_;
  std::vector<Draft> drafts_;
};

Result<std::shared_ptr<const Plan>> Plan::Compile(Engine& engine, const Program& program,
                                                  const std::vector<BoundValue>& bound,
                                                  const LengthRange* range) {
  return PlanCompiler(engine, program, range).Run(bound);
}

}  // namespace tern
