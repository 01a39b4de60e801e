// Model contains everything that the sessions of a model share: the graph, folded constants, programs,
// prepared kernels with packed weights, and plans.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel_api/target.h"
#include "runtime/model/fold.h"
#include "runtime/model/kernel_store.h"
#include "runtime/model/variants.h"
#include "runtime/options.h"
#include "runtime/tune/tuner.h"

namespace tern {

class PlanStore;

// Thread-safe. graph() and program() never change, except that weights are released when they are packed
// (Residency).
class Model {
 public:
  // `resolved` must come from SessionOptions::Resolved.
  static Result<std::shared_ptr<Model>> Create(std::shared_ptr<const Graph> graph,
                                               const SessionOptions& resolved, const Workers& workers);
  ~Model();

  // Returns the graph that runs. If it was optimized and options.keep_weights is false, its constants of 16
  // KiB and more have a type and dims but no data.
  const Graph& graph() const { return *graph_; }
  // Returns the graph that the caller of Create passed if it has overridable constants, else graph().
  const Graph& source() const { return *source_; }
  const Program& program() const { return *program_; }
  const Target& target() const { return *target_; }
  bool bf16() const { return rounding_.bf16; }
  const Rounding& rounding() const { return rounding_; }
  size_t value_cache() const { return options_.value_cache; }

  // Selects the kernel for a node. Finds the pack layout that is best for the node's representative dims, and
  // returns the best legal kernel with this layout. If no pack layout serves all dims, returns the best legal
  // kernel of any layout. Then the weights stay in memory. Returns null if no kernel supports the node. If
  // `why` is not null, it receives the candidates and the reason. The result does not depend on earlier runs.
  Result<const KernelEntry*> Choose(const Node& node, const KernelQuery& query, int threads,
                                    Choice* why = nullptr);
  Tuner* tuner() const { return tuner_.get(); }  // null if only estimates choose the kernels

  Residency& residency() { return *residency_; }
  KernelStore& kernel_store() { return *kernel_store_; }
  PlanStore& plans() { return *plans_; }

  // Returns the model with these overridable constants as additional inputs, in the given order. Variants are
  // cached. Waits while another session creates the same variant. If `stop` fires during this wait, the call
  // fails with kCancelled.
  Result<std::shared_ptr<Model>> Variant(const std::vector<std::string>& names, const Workers& workers,
                                         const Stop& stop = {});

  // Returns the packed weights of the main graph that the kernels prepared so far use. The model packed them
  // or loaded them from a file.
  Packs packs() const { return pack_store_->packs(); }
  size_t weight_bytes() const { return weight_bytes_; }
  size_t folded_bytes() const { return folded_bytes_; }
  size_t packed_bytes() const { return pack_store_->bytes(); }

 private:
  Model();
  static Result<std::shared_ptr<Model>> CreateWith(std::shared_ptr<Tuner> tuner,
                                                   std::shared_ptr<const Graph> graph,
                                                   const SessionOptions& options, const Workers& workers);
  void DropGraphData();
  const KernelEntry* Select(const KernelQuery& query, int threads, const std::string* pack, Reason& reason,
                            std::vector<Measured>& times) const;
  // Returns the pack layout for all dims of the node, or nullopt if no layout serves all dims or the node has
  // no weights.
  std::optional<std::string> PackFor(const Node& node, const KernelQuery& query, int threads);
  std::optional<std::string> BestPack(const Node& node, const KernelQuery& query, int threads) const;

  std::shared_ptr<const Graph> source_, graph_;
  std::shared_ptr<Graph> own_graph_;  // graph_ if the model is the sole owner of the graph, else null
  SessionOptions options_;
  Rounding rounding_;
  std::shared_ptr<Tuner> tuner_;  // variants share it
  const Target* target_ = nullptr;
  FoldedValues folded_;
  std::unique_ptr<Program> program_;
  size_t weight_bytes_ = 0, folded_bytes_ = 0;
  std::unique_ptr<Residency> residency_;
  std::unique_ptr<PackStore> pack_store_;
  std::unique_ptr<KernelStore> kernel_store_;
  std::unique_ptr<PlanStore> plans_;
  Variants variants_;
};

}  // namespace tern
