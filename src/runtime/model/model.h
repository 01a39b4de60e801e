// What all sessions of a model share: the graph, folded constants, programs, kernels with packed weights, and
// plans.
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

// Thread-safe. graph() and program() never change; which weights are in memory does (Residency).
class Model {
 public:
  // resolved: see SessionOptions::Resolved.
  static Result<std::shared_ptr<Model>> Create(std::shared_ptr<const Graph> graph,
                                               const SessionOptions& resolved, const Workers& workers);
  ~Model();

  // As it runs. Where it was optimized, its own large constants have type and dims, but no data.
  const Graph& graph() const { return *graph_; }
  const Graph& source() const { return *source_; }  // as it was given; its overridable constants can be fed
  const Program& program() const { return *program_; }
  const Target& target() const { return *target_; }
  bool bf16() const { return bf16_; }
  size_t value_cache() const { return options_.value_cache; }

  // The kernel for a node: the best legal one among those whose pack layout is the best for the node's
  // representative dims; any legal one where no layout serves all dims, and weights stay in memory then.
  // Null: there is no kernel. why: receives the reason. The result does not depend on what ran before.
  Result<const KernelEntry*> Choose(const Node& node, const KernelQuery& query, int threads,
                                    Choice* why = nullptr);
  Tuner* tuner() const { return tuner_.get(); }  // null: kernels are chosen by their estimates

  Residency& residency() { return *residency_; }
  KernelStore& kernel_store() { return *kernel_store_; }
  PlanStore& plans() { return *plans_; }

  // The model with some of its overridable constants as further inputs, in the given order. Kept for the next
  // time. stop: ends the wait for another session that makes the same one, with kCancelled.
  Result<std::shared_ptr<Model>> Variant(const std::vector<std::string>& names, const Workers& workers,
                                         const Stop& stop = {});

  // Weights of the model's own graph as the kernels chosen so far have them, packed here or loaded.
  Packs packs() const { return pack_store_->packs(); }
  size_t weight_bytes() const { return weight_bytes_; }
  size_t folded_bytes() const { return folded_bytes_; }
  size_t packed_bytes() const { return pack_store_->bytes(); }

 private:
  Model();
  static Result<std::shared_ptr<Model>> CreateWith(std::shared_ptr<Tuner> tuner,
                                                   std::shared_ptr<const Graph> graph,
                                                   const SessionOptions& options, const Workers& workers);
  void LeaveDataToProgram();
  const KernelEntry* Select(const KernelQuery& query, int threads, const std::string* pack, Reason& reason,
                            std::vector<Measured>& times) const;
  // The pack layout that serves all dims; nothing where none does, or nothing is packed.
  std::optional<std::string> PackFor(const Node& node, const KernelQuery& query, int threads);
  std::optional<std::string> BestPack(const Node& node, const KernelQuery& query, int threads) const;

  std::shared_ptr<const Graph> source_, graph_;
  std::shared_ptr<Graph> own_graph_;  // graph_ where nobody else has it
  SessionOptions options_;
  bool bf16_ = false;
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
