#include "runtime/model/model.h"

#include <algorithm>

#include "passes/pipeline.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/model/representative.h"
#include "runtime/tune/explain.h"

namespace tern {
namespace {

constexpr size_t kMaxVariants = 4;
constexpr size_t kWorthReleasing = size_t{16} << 10;  // bytes
constexpr char kOtherPacks[] = "another session, which packs the same weights";

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

const KernelTable& NoKernels() {
  static const KernelTable* table = new KernelTable();
  return *table;
}

}  // namespace

// The packs of one node of the model's own graph, while it is prepared. From Find to Keep nobody else makes
// the same one.
class Model::PackStore : public PrepareContext::Store {
 public:
  PackStore(Model& model, const Node& node, const KernelEntry& entry, const KernelQuery& query,
            const std::function<void(int input)>& packed, const Stop& stop)
      : model_(model), node_(node), entry_(entry), query_(query), packed_(packed), stop_(stop) {}

  // The optimizer may have given a weight other bytes since the graph was read.
  Result<Tensor> Find(const std::vector<int>& inputs) override {
    const MadePacks::key_type key = KeyOf(inputs);
    lock_ = {};  // of packing that failed
    TERN_ASSIGN(lock_, model_.packing_.Acquire(key, stop_, kOtherPacks));
    found_ = Tensor();
    {
      std::lock_guard<std::mutex> lock(model_.mutex_);
      if (const auto it = model_.made_.find(key); it != model_.made_.end()) found_ = it->second;
    }
    if (found_.defined()) return found_;
    const auto it = model_.loaded_.find(PackKey(entry_.can.pack, node_, inputs));
    if (it != model_.loaded_.end() && it->second.made_from == SourcesOf(inputs)) found_ = it->second.data;
    return found_;
  }

  void Keep(const std::vector<int>& inputs, const Tensor& packed) override {
    const std::string key = PackKey(entry_.can.pack, node_, inputs);
    {
      std::lock_guard<std::mutex> lock(model_.mutex_);
      const bool first = model_.made_.emplace(KeyOf(inputs), packed).second;
      if (first && !key.empty()) model_.packs_[key] = {packed, SourcesOf(inputs), {}};
      if (first && packed.raw() != found_.raw()) {
        model_.packed_bytes_ += packed.bytes();
        counted_ += packed.bytes();
      }
      for (int i : inputs) {
        model_.finished_[{&node_, i}] = entry_.can.pack;
        if (packed_) packed_(i);
      }
    }
    lock_ = {};
  }

  size_t counted() const { return counted_; }  // bytes: they stay, whatever becomes of the kernel

 private:
  MadePacks::key_type KeyOf(const std::vector<int>& inputs) const {
    std::vector<const Value*> weights;
    for (int i : inputs) weights.push_back(node_.input(i));
    return {entry_.can.pack, weights, inputs, HashOf(node_.attrs)};
  }
  std::vector<const void*> SourcesOf(const std::vector<int>& inputs) const {
    std::vector<const void*> sources;
    for (int i : inputs) sources.push_back(query_.Known(i)->raw());
    return sources;
  }

  Model& model_;
  const Node& node_;
  const KernelEntry& entry_;
  const KernelQuery& query_;
  const std::function<void(int input)>& packed_;
  const Stop& stop_;
  KeyedMutex<MadePacks::key_type>::Lock lock_;
  Tensor found_;  // by the last Find
  size_t counted_ = 0;
};

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

std::unique_ptr<Kernel> Model::FindPrepared(const KernelKey& key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = prepared_.find(key);
  return it == prepared_.end() ? nullptr : it->second->Clone();
}

Result<std::unique_ptr<Kernel>> Model::Prepared(const Node& node, const KernelEntry& entry,
                                                const KernelQuery& query,
                                                const std::function<void(int input)>& packed,
                                                const Stop& stop) {
  const KernelKey key(&node, &entry);
  if (auto kernel = FindPrepared(key)) return kernel;
  TERN_ASSIGN(const auto preparing, preparing_.Acquire(key, stop, kOtherPacks));
  if (auto kernel = FindPrepared(key)) return kernel;
  auto made = entry.make();
  size_t bytes = 0;
  PackStore store(*this, node, entry, query, packed, stop);
  PrepareContext context(query, workers_, bytes, node.graph == graph_.get() ? &store : nullptr);
  Status status = made->Prepare(context);
  if (!status.ok()) return Status(status.code(), StrCat(node.Describe(), ": ", status.message()));
  if (!context.finished().empty() && entry.can.pack.empty())
    return Status(Code::kInternal, StrCat("kernel ", entry.name, " packs weights, but does not say how"));
  auto copy = made->Clone();
  std::lock_guard<std::mutex> lock(mutex_);
  prepared_.emplace(key, std::move(made));
  packed_bytes_ += bytes - store.counted();
  for (int i : context.finished()) finished_[{&node, i}] = entry.can.pack;
  return copy;
}

const KernelEntry* Model::Select(const KernelQuery& query, int threads, const std::string* pack,
                                 Reason& reason, std::vector<Measured>& times) const {
  reason = Reason::kEstimated;
  if (options_.tuner) {
    Tuner::Found found = options_.tuner->Find(query, threads);
    times = std::move(found.times);
    for (const Measured& time : times)  // the quickest first
      for (const KernelEntry* entry : kernels_->Of(query.op().name))
        if (entry->name == time.kernel && (!pack || entry->can.pack == *pack) && entry->legal(query)) {
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
  if (const std::optional<Representative> usual = RepresentativeQuery(node, query)) {
    Reason reason;
    std::vector<Measured> times;
    const KernelEntry* entry = Select(usual->query, threads, nullptr, reason, times);
    if (!entry || !entry->can.pack.empty() || !usual->open) return entry ? entry->can.pack : std::string();
    // One that packs nothing may be the best for these dims and fall behind for others.
    const KernelEntry* packing = nullptr;
    for (const KernelEntry* other : kernels_->Of(query.op().name))
      if (!other->can.pack.empty() && other->legal(usual->query) &&
          (!packing ||
           EstimatedMicroseconds(*other, usual->query) < EstimatedMicroseconds(*packing, usual->query)))
        packing = other;
    return packing ? packing->can.pack : std::string();
  }
  for (const KernelEntry* entry : kernels_->Of(query.op().name))
    if (!entry->can.pack.empty() && entry->legal(query)) packs.insert(entry->can.pack);
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
  if (released || (pack && entry->can.pack == *pack && entry != Select(query, threads, nullptr, free, same)))
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

std::shared_ptr<Model> Model::FindVariant(const std::vector<std::string>& names) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key, model] : variants_)
    if (key == names) return model;
  return nullptr;
}

Result<std::shared_ptr<Model>> Model::Variant(const std::vector<std::string>& names, const Workers& workers,
                                              const Stop& stop) {
  if (auto model = FindVariant(names)) return model;
  TERN_ASSIGN(const auto making,
              varying_.Acquire(names, stop, "another session, which makes the model for the same inputs"));
  if (auto model = FindVariant(names)) return model;
  std::shared_ptr<Graph> graph = source_->Clone();
  for (const std::string& name : names) {
    const auto& values = graph->overridable();
    const auto it =
        std::find_if(values.begin(), values.end(), [&](const Value* v) { return v->name == name; });
    if (it == values.end()) return NotFound("the model has no overridable constant '", name, "'");
    graph->ConstantToInput(*it);
  }
  TERN_ASSIGN(auto model, Create(std::move(graph), options_, workers));
  std::shared_ptr<Model> oldest;  // leaves memory when the lock is free again
  std::lock_guard<std::mutex> lock(mutex_);
  if (variants_.size() == kMaxVariants) {
    oldest = std::move(variants_.front().second);
    variants_.erase(variants_.begin());
  }
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
