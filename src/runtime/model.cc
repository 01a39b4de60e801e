#include "runtime/model.h"

#include <algorithm>

#include "passes/pipeline.h"
#include "runtime/tune/explain.h"
#include "runtime/usual.h"

namespace tern {
namespace {

constexpr size_t kMaxVariants = 4;
constexpr size_t kWorthReleasing = size_t{16} << 10;  // bytes

size_t ConstantBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const auto& v : graph.values())
    if (v->is_constant()) bytes += v->constant.bytes();
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) bytes += ConstantBytes(*sub);
  return bytes;
}

// A graph that nobody else holds is changed itself: weights that are folded into others leave memory one by
// one, while a copy would leave them all in the graph it was made from. Constants that can be fed are needed
// as they were.
Result<std::shared_ptr<Graph>> Optimized(std::shared_ptr<const Graph> graph, Level level) {
  const bool ours = graph.use_count() == 1 && graph->overridable().empty();
  std::shared_ptr<Graph> out = ours ? std::const_pointer_cast<Graph>(graph) : graph->Clone();
  graph.reset();
  OptimizeOptions options;
  options.level = level;
  auto report = Optimize(*out, options);
  if (!report.ok()) return report.TakeStatus().While("optimizing the graph");
  return out;
}

Tensor WithoutData(const Tensor& t) {
  return Tensor::View(Buffer::Borrow(nullptr, t.bytes(), nullptr), t.dtype(), t.dims());
}

// The packs of one node of the model's own graph.
class PackStore : public PrepareContext::Store {
 public:
  PackStore(const Packs& loaded, Packs& used, MadePacks& made, const Node& node, const KernelEntry& entry,
            const KernelQuery& query, std::function<void(int input)> kept)
      : loaded_(loaded),
        used_(used),
        made_(made),
        node_(node),
        entry_(entry),
        query_(query),
        kept_(std::move(kept)) {}

  // The optimizer may have given a weight other bytes since the graph was read.
  Tensor Find(const std::vector<int>& inputs) override {
    if (const auto it = made_.find(KeyOf(inputs)); it != made_.end()) return it->second;
    const auto it = loaded_.find(PackKey(entry_.pack, node_, inputs));
    return it != loaded_.end() && it->second.made_from == SourcesOf(inputs) ? it->second.data : Tensor();
  }
  void Keep(const std::vector<int>& inputs, const Tensor& packed) override {
    const bool first = made_.emplace(KeyOf(inputs), packed).second;
    const std::string key = PackKey(entry_.pack, node_, inputs);
    if (first && !key.empty()) used_[key] = {packed, SourcesOf(inputs), {}};
    for (int i : inputs) kept_(i);
  }

 private:
  MadePacks::key_type KeyOf(const std::vector<int>& inputs) const {
    std::vector<const Value*> weights;
    for (int i : inputs) weights.push_back(node_.input(i));
    return {entry_.pack, weights, inputs, HashOf(node_.attrs)};
  }
  std::vector<const void*> SourcesOf(const std::vector<int>& inputs) const {
    std::vector<const void*> sources;
    for (int i : inputs) sources.push_back(query_.Known(i)->raw());
    return sources;
  }

  const Packs& loaded_;
  Packs& used_;
  MadePacks& made_;
  const Node& node_;
  const KernelEntry& entry_;
  const KernelQuery& query_;
  std::function<void(int input)> kept_;
};

const KernelTable& NoKernels() {
  static const KernelTable* table = new KernelTable();
  return *table;
}

}  // namespace

Result<std::shared_ptr<Model>> Model::Create(std::shared_ptr<const Graph> graph, const ModelOptions& options,
                                             const Workers& workers) {
  std::shared_ptr<Model> model(new Model(workers));
  model->options_ = options;
  model->loaded_ = PacksOf(*graph);
  // What the optimizer folds away need not stay in memory for constants that nobody can override.
  if (!graph->overridable().empty()) model->source_ = graph;
  if (options.level == Level::kNone) {
    model->graph_ = std::move(graph);
  } else {
    TERN_ASSIGN(model->own_graph_, Optimized(std::move(graph), options.level));
    model->graph_ = model->own_graph_;
  }
  if (!model->source_) model->source_ = model->graph_;
  model->kernels_ = options.reference_only ? &NoKernels() : options.kernels ? options.kernels : &CpuKernels();
  model->folded_ = FoldConstants(*model->graph_, options.fold_budget, *model->kernels_, workers);
  for (const auto& [value, tensor] : model->folded_) model->folded_bytes_ += tensor.bytes();
  model->weight_bytes_ = ConstantBytes(*model->graph_);
  TERN_ASSIGN(model->program_, BuildProgram(*model->graph_, model->folded_));
  if (model->own_graph_) model->LeaveDataToProgram();
  return model;
}

// From here on the graph never changes, and the program alone decides how long weights stay in memory.
void Model::LeaveDataToProgram() {
  folded_.clear();
  for (const auto& v : own_graph_->values())
    if (v->is_constant() && v->constant.bytes() >= kWorthReleasing && v->constant.dtype() != DType::kString)
      v->constant = WithoutData(v->constant);
}

Result<std::unique_ptr<Kernel>> Model::Prepared(const Node& node, const KernelEntry& entry,
                                                const KernelQuery& query,
                                                const std::function<void(int input)>& packed) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto& kernel = prepared_[{&node, &entry}];
  if (!kernel) {
    auto made = entry.make();
    const auto kept = [&](int input) {
      finished_[{&node, input}] = entry.pack;
      if (packed) packed(input);
    };
    PackStore store(loaded_, packs_, made_, node, entry, query, kept);
    PrepareContext context(query, workers_, packed_bytes_, node.graph == graph_.get() ? &store : nullptr);
    Status status = made->Prepare(context);
    if (!status.ok()) return Status(status.code(), StrCat(node.Describe(), ": ", status.message()));
    if (!context.finished().empty() && entry.pack.empty())
      return Status(Code::kInternal, StrCat("kernel ", entry.name, " packs weights, but does not say how"));
    kernel = std::move(made);
    for (int i : context.finished()) finished_[{&node, i}] = entry.pack;
  }
  return kernel->Clone();
}

const KernelEntry* Model::Select(const KernelQuery& query, int threads, const std::string* pack,
                                 Reason& reason, std::vector<Measured>& times) const {
  reason = Reason::kEstimated;
  if (options_.tuner) {
    Tuner::Found found = options_.tuner->Find(query, threads);
    times = std::move(found.times);
    for (const Measured& time : times)  // the quickest first
      for (const KernelEntry* entry : kernels_->Of(query.op().name))
        if (entry->name == time.kernel && (!pack || entry->pack == *pack) && entry->legal(query)) {
          reason = found.recorded ? Reason::kRecorded : Reason::kMeasured;
          return entry;
        }
  }
  return kernels_->Select(query, pack);
}

// Kernels may refuse types, ranks, attributes and weights, and sizes of the rest only where another one that
// packs alike does not, so that the ways they know are the same for all.
std::optional<std::string> Model::DecidePack(const Node& node, const KernelQuery& query, int threads) const {
  std::set<std::string> packs;
  if (const std::optional<Usual> usual = UsualQuery(node, query)) {
    Reason reason;
    std::vector<Measured> times;
    const KernelEntry* entry = Select(usual->query, threads, nullptr, reason, times);
    if (!entry || !entry->pack.empty() || !usual->open) return entry ? entry->pack : std::string();
    // One that packs nothing may be the best for these dims and fall behind for others.
    const KernelEntry* packing = nullptr;
    for (const KernelEntry* other : kernels_->Of(query.op().name))
      if (!other->pack.empty() && other->legal(usual->query) &&
          (!packing ||
           EstimatedMicroseconds(*other, usual->query) < EstimatedMicroseconds(*packing, usual->query)))
        packing = other;
    return packing ? packing->pack : std::string();
  }
  for (const KernelEntry* entry : kernels_->Of(query.op().name))
    if (!entry->pack.empty() && entry->legal(query)) packs.insert(entry->pack);
  return packs.size() == 1 ? std::optional(*packs.begin()) : std::nullopt;
}

std::optional<std::string> Model::PackFor(const Node& node, const KernelQuery& query, int threads) {
  if (std::none_of(query.weight.begin(), query.weight.end(), [](bool weight) { return weight; })) return {};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (const auto it = decided_.find(&node); it != decided_.end()) return it->second;
  }
  const std::optional<std::string> pack = DecidePack(node, query, threads);
  std::lock_guard<std::mutex> lock(mutex_);
  return decided_.emplace(&node, pack).first->second;
}

Result<const KernelEntry*> Model::Choose(const Node& node, const KernelQuery& query, int threads,
                                         Choice* why) {
  const std::optional<std::string> pack = PackFor(node, query, threads);
  const bool released = pack && !CanChoose(node);
  Reason reason;
  std::vector<Measured> times;
  const KernelEntry* entry = Select(query, threads, pack ? &*pack : nullptr, reason, times);
  if (!entry && released)
    return Status(Code::kInternal, StrCat(node.Describe(), ": weights are packed as ", *pack,
                                          ", for which no kernel takes these dims"));
  if (!entry && pack) entry = Select(query, threads, nullptr, reason, times);
  if (!entry || !why) return entry;
  Reason free;
  std::vector<Measured> same;
  if (released || (pack && entry->pack == *pack && entry != Select(query, threads, nullptr, free, same)))
    reason = Reason::kPacked;
  *why = Explain(node, query, *kernels_, *entry, reason, times, released);
  return entry;
}

bool Model::CanChoose(const Node& node) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return released_.count(&node) == 0;
}

bool Model::Release(int slot) {
  std::lock_guard<std::mutex> lock(mutex_);
  return ReleaseHeld(slot);
}

bool Model::ReleaseHeld(int slot) {
  Tensor& weight = program_->weights[static_cast<size_t>(slot)];
  if (!own_graph_ || !weight.defined() || weight.bytes() < kWorthReleasing || !weight.raw()) return false;
  const Value* value = program_->values[static_cast<size_t>(slot)];
  const bool packed = std::all_of(value->uses.begin(), value->uses.end(), [&](const auto& use) {
    const auto decided = decided_.find(use.first);
    const auto finished = finished_.find({use.first, use.second});
    return decided != decided_.end() && finished != finished_.end() && decided->second == finished->second;
  });
  if (!packed || value->output_uses > 0) return false;
  for (const auto& [node, i] : value->uses) released_.insert(node);
  weight = WithoutData(weight);
  return true;
}

Result<std::shared_ptr<Model>> Model::Variant(const std::vector<std::string>& names, const Workers& workers) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key, model] : variants_)
    if (key == names) return model;
  std::shared_ptr<Graph> graph = source_->Clone();
  for (const std::string& name : names) {
    const auto& values = graph->overridable();
    const auto it =
        std::find_if(values.begin(), values.end(), [&](const Value* v) { return v->name == name; });
    if (it == values.end()) return NotFound("the model has no overridable constant '", name, "'");
    graph->ConstantToInput(*it);
  }
  TERN_ASSIGN(auto model, Create(std::move(graph), options_, workers));
  if (variants_.size() == kMaxVariants) variants_.erase(variants_.begin());
  variants_.emplace_back(names, model);
  return model;
}

Packs Model::packs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return packs_;
}

size_t Model::packed_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return packed_bytes_;
}

}  // namespace tern
