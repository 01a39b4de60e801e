#include "runtime/model/model.h"

#include <algorithm>

#include "passes/pipeline.h"
#include "runtime/bind/cpu_target.h"
#include "runtime/model/representative.h"
#include "runtime/plan/plan_store.h"
#include "runtime/tune/explain.h"

namespace tern {
namespace {

size_t ConstantBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const auto& v : graph.values())
    if (v->is_constant()) bytes += v->constant.bytes();
  for (const auto& node : graph.nodes())
    for (const auto& sub : node->subgraphs()) bytes += ConstantBytes(*sub);
  return bytes;
}

// Optimizes the graph in place if `graph` is the only pointer to it. Then a weight is freed as soon as the
// optimizer replaces it. Otherwise optimizes a copy, and all original weights stay in memory. A graph with
// overridable constants is always copied, because variants need the original.
Result<std::shared_ptr<Graph>> Optimized(std::shared_ptr<const Graph> graph, Level level,
                                         const Target& target) {
  const bool in_place = graph.use_count() == 1 && graph->overridable().empty();
  std::shared_ptr<Graph> out = in_place ? std::const_pointer_cast<Graph>(graph) : graph->Clone();
  graph.reset();
  OptimizeOptions options;
  options.level = level;
  options.target = &target;
  auto report = Optimize(*out, options);
  if (!report.ok()) return report.TakeStatus().While("optimizing the graph");
  return out;
}

}  // namespace

Model::Model() : plans_(std::make_unique<PlanStore>()) {}
Model::~Model() = default;

Result<std::shared_ptr<Model>> Model::Create(std::shared_ptr<const Graph> graph,
                                             const SessionOptions& resolved, const Workers& workers) {
  return CreateWith(Tuner::For(resolved), std::move(graph), resolved, workers);
}

Result<std::shared_ptr<Model>> Model::CreateWith(std::shared_ptr<Tuner> tuner,
                                                 std::shared_ptr<const Graph> graph,
                                                 const SessionOptions& options, const Workers& workers) {
  std::shared_ptr<Model> model(new Model());
  model->options_ = options;
  model->target_ = &options.TargetOrDefault();
  model->rounding_ = RoundingOf(options.precision, *model->target_);
  model->tuner_ = std::move(tuner);
  Packs loaded = PacksOf(*graph);
  // Only variants need the original graph, and only a graph with overridable constants has variants.
  if (!graph->overridable().empty()) model->source_ = graph;
  if (options.level == Level::kNone) {
    model->graph_ = std::move(graph);
  } else {
    TERN_ASSIGN(model->own_graph_, Optimized(std::move(graph), options.level, *model->target_));
    model->graph_ = model->own_graph_;
  }
  if (!model->source_) model->source_ = model->graph_;
  model->folded_ = FoldConstants(*model->graph_, options.fold_budget, *model->target_, workers);
  for (const auto& [value, tensor] : model->folded_) model->folded_bytes_ += tensor.bytes();
  model->weight_bytes_ = ConstantBytes(*model->graph_);
  TERN_ASSIGN(model->program_, BuildProgram(*model->graph_, model->folded_));
  const bool may_release = model->own_graph_ && !options.keep_weights;
  if (may_release) model->DropGraphData();
  model->residency_ = std::make_unique<Residency>(*model->program_, may_release);
  model->pack_store_ =
      std::make_unique<PackStore>(std::move(loaded), model->target_->isa(), *model->residency_);
  model->kernel_store_ =
      std::make_unique<KernelStore>(*model->graph_, *model->pack_store_, *model->residency_, workers);
  return model;
}

// Removes the data of large constants from the graph, so that the program holds the only reference to each
// weight.
void Model::DropGraphData() {
  folded_.clear();
  for (const auto& v : own_graph_->values())
    if (v->is_constant() && v->constant.bytes() >= kWorthReleasing && v->constant.dtype() != DType::kString)
      v->constant = WithoutData(v->constant);
}

const KernelEntry* Model::Select(const KernelQuery& query, int threads, const std::string* pack,
                                 Reason& reason, std::vector<Measured>& times) const {
  reason = Reason::kEstimated;
  if (tuner_) {
    Tuner::Found found = tuner_->Find(query, threads);
    times = std::move(found.times);
    for (const Measured& time : times)  // best kernel first
      for (const KernelEntry* entry : target_->KernelsOf(query.op().name))
        if (entry->name == time.kernel && (!pack || entry->can.pack == *pack) && entry->legal(query)) {
          reason = found.recorded ? Reason::kRecorded : Reason::kMeasured;
          return entry;
        }
  }
  return target_->Select(query, pack);
}

// Relies on a rule that all kernel tables follow. The legality of a pack layout depends only on the weights,
// not on the dims of other inputs. If a kernel is not legal for some of these dims, another kernel with the
// same pack layout is. So the layouts that are legal for `query` are legal for all dims.
std::optional<std::string> Model::BestPack(const Node& node, const KernelQuery& query, int threads) const {
  std::set<std::string> packs;
  if (const std::optional<Representative> representative = RepresentativeQuery(node, query)) {
    Reason reason;
    std::vector<Measured> times;
    const KernelEntry* entry = Select(representative->query, threads, nullptr, reason, times);
    if (!entry || !entry->can.pack.empty() || !representative->has_unknown_dims)
      return entry ? entry->can.pack : std::string();
    // The best kernel for these dims does not pack, but the best kernel for other dims may need packed
    // weights. So the layout of the fastest kernel that packs is used.
    const KernelEntry* packing = nullptr;
    for (const KernelEntry* other : target_->KernelsOf(query.op().name))
      if (!other->can.pack.empty() && other->legal(representative->query) &&
          (!packing || EstimatedMicroseconds(*other, representative->query) <
                           EstimatedMicroseconds(*packing, representative->query)))
        packing = other;
    return packing ? packing->can.pack : std::string();
  }
  for (const KernelEntry* entry : target_->KernelsOf(query.op().name))
    if (!entry->can.pack.empty() && entry->legal(query)) packs.insert(entry->can.pack);
  return packs.size() == 1 ? std::optional(*packs.begin()) : std::nullopt;
}

std::optional<std::string> Model::PackFor(const Node& node, const KernelQuery& query, int threads) {
  if (std::none_of(query.weight.begin(), query.weight.end(), [](bool weight) { return weight; })) return {};
  if (const auto decided = residency_->DecidedPack(node)) return *decided;
  return residency_->DecidePack(node, BestPack(node, query, threads));
}

Result<const KernelEntry*> Model::Choose(const Node& node, const KernelQuery& query, int threads,
                                         Choice* why) {
  const std::optional<std::string> pack = PackFor(node, query, threads);
  const bool released = pack && residency_->HasReleased(node);
  Reason reason;
  std::vector<Measured> times;
  const KernelEntry* entry = Select(query, threads, pack ? &*pack : nullptr, reason, times);
  if (!entry && released)
    return Status(Code::kInternal, StrCat(node.Describe(), ": the weights were released after packing as ",
                                          *pack, ", but no kernel with this layout supports these dims"));
  if (!entry && pack) entry = Select(query, threads, nullptr, reason, times);
  if (!entry || !why) return entry;
  Reason unused;
  std::vector<Measured> unused_times;
  if (released ||
      (pack && entry->can.pack == *pack && entry != Select(query, threads, nullptr, unused, unused_times)))
    reason = Reason::kPacked;
  *why = Explain(node, query, *target_, *entry, reason, times, released);
  return entry;
}

Result<std::shared_ptr<Model>> Model::Variant(const std::vector<std::string>& names, const Workers& workers,
                                              const Stop& stop) {
  return variants_.Get(names, stop, [&]() -> Result<std::shared_ptr<Model>> {
    std::shared_ptr<Graph> graph = source_->Clone();
    for (const std::string& name : names) {
      const auto& values = graph->overridable();
      const auto it =
          std::find_if(values.begin(), values.end(), [&](const Value* v) { return v->name == name; });
      if (it == values.end()) return NotFound("the model has no overridable constant '", name, "'");
      graph->ConstantToInput(*it);
    }
    return CreateWith(tuner_, std::move(graph), options_, workers);
  });
}

}  // namespace tern
