#include "tools/needed.h"

#include <algorithm>
#include <mutex>

#include "ir/op_def.h"
#include "ops/quant/quantized.h"
#include "runtime/bind/cpu_kernels.h"
#include "runtime/bind/cpu_target.h"
#include "runtime/cost/cost_model.h"
#include "tools/engine.h"
#include "tools/feeds.h"
#include "tools/shapes.h"

namespace tern::tools {
namespace {

// Plans are compiled with each of these sizes for all open dims, and again with batch size 1.
constexpr int64_t kSizes[] = {1, 2, 3, 4, 7, 8, 16, 32, 64, 100, 128, 224, 256, 512};
// Sizes with larger inputs are left out.
constexpr size_t kMaxInputBytes = size_t{256} << 20;

// A CPU target that records which kernels are made.
class RecordingTarget {
 public:
  explicit RecordingTarget(std::set<std::string>& names) : table_(CpuRates()), target_(table_) {
    CollectKernels(table_);
    table_.Change([this, &names](KernelEntry& entry) {
      entry.make = [this, &names, name = entry.name, make = entry.make] {
        const std::lock_guard lock(mutex_);
        names.insert(name);
        return make();
      };
    });
  }
  const Target& target() const { return target_; }

 private:
  std::recursive_mutex mutex_;  // a kernel may make another kernel
  KernelTable table_;
  CpuTarget target_;
};

bool IsBf16(const std::string& kernel) { return EndsWith(kernel, "bf16"); }

// Adds the kernels that may be chosen for an op at run time, and its reference function.
void AddAll(const OpDef& op, Precision precision, Needed& needed) {
  needed.references.insert(op.name);
  const bool bf16 = precision == Precision::kBf16 || precision == Precision::kAuto;
  for (const KernelEntry* entry : CpuKernels().Of(op.name))
    if (bf16 || !IsBf16(entry->name)) needed.kernels.insert(entry->name);
}

// Adds the ops of a graph. `nested` is true for a subgraph, whose kernels are chosen at run time.
void AddOps(const Graph& graph, bool nested, Precision precision, Needed& needed) {
  for (const auto& node : graph.nodes()) {
    needed.ops.insert(node->op->name);
    if (const QuantizedForm* form = QuantizedFormOf(node->op->name)) needed.ops.insert(form->real);
    if (nested) AddAll(*node->op, precision, needed);
    if (CpuKernels().Of(node->op->name).empty()) needed.references.insert(node->op->name);
    for (const auto& sub : node->subgraphs()) AddOps(*sub, true, precision, needed);
  }
}

size_t InputBytes(const Graph& graph) {
  size_t bytes = 0;
  for (const Value* v : graph.inputs()) {
    if (!v->type.tensor()) continue;
    const auto count = CheckedCount(v->type.shape.Concrete(), v->type.dtype);
    if (!count) return SIZE_MAX;
    bytes += BytesOf(v->type.dtype, static_cast<size_t>(*count));
  }
  return bytes;
}

// Returns a copy of the graph whose open dims are `size`. If `single` is true, the batch size is 1. Returns
// null if the model does not permit these sizes.
std::unique_ptr<Graph> Closed(const Graph& graph, int64_t size, bool single) {
  std::unique_ptr<Graph> copy = graph.Clone();
  for (Value* v : copy->inputs())
    if (single && v->type.tensor() && !v->type.shape.dims.empty() && !v->type.shape.dims[0].known())
      v->type.shape.dims[0] = 1;
  return FillOpenDims(*copy, size).ok() ? std::move(copy) : nullptr;
}

class Analysis {
 public:
  Analysis(const Graph& graph, Precision precision, Needed& needed)
      : graph_(graph), precision_(precision), needed_(needed), recording_(needed.kernels) {}

  Status Run() {
    AddOps(graph_, false, precision_, needed_);
    SessionOptions options;
    options.level = Level::kNone;
    options.target = &recording_.target();
    options.precision = precision_;
    options.keep_weights = true;
    TERN_ASSIGN(Engine engine, Engine::Make(graph_.Clone(), options));
    bool planned = false;
    for (const int64_t size : kSizes)
      for (const bool single : {false, true}) planned |= Plan(engine, size, single).ok();
    if (!planned) AddOps(graph_, true, precision_, needed_);
    return {};
  }

 private:
  // Compiles a plan and adds its ops. Fails if the model does not permit these sizes, or if there are no
  // random values for an input, such as a sequence.
  Status Plan(Engine& engine, int64_t size, bool single) {
    const std::unique_ptr<Graph> closed = Closed(graph_, size, single);
    if (!closed || InputBytes(*closed) > kMaxInputBytes) return InvalidArgument("no inputs of this size");
    Feeds feeds;
    TERN_TRY(AddRandomFeeds(*closed, 0, feeds));
    TERN_ASSIGN(const DatumList inputs, OrderFeeds(*closed, feeds));
    TERN_TRY(engine.Bind(inputs));
    TERN_TRY(engine.Prepare());
    for (const StepInfo& step : engine.Steps()) {
      needed_.ops.insert(step.node->op->name);
      if (step.dynamic) AddAll(*step.node->op, precision_, needed_);
      if (step.kernel == "reference") needed_.references.insert(step.node->op->name);
    }
    return {};
  }

  const Graph& graph_;
  const Precision precision_;
  Needed& needed_;
  RecordingTarget recording_;
};

}  // namespace

Status AddNeeded(const Graph& graph, Precision precision, Needed& needed) {
  return Analysis(graph, precision, needed).Run();
}

}  // namespace tern::tools
