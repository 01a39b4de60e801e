// What all sessions of a model share: the graph, folded constants, programs, and kernels with packed weights.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "base/keyed_mutex.h"
#include "kernel_api/kernel_table.h"
#include "passes/level.h"
#include "runtime/model/fold.h"
#include "runtime/model/packs.h"
#include "runtime/model/program.h"
#include "runtime/tune/tuner.h"

namespace tern {

struct ModelOptions {
  bool reference_only = false;             // every op by its reference evaluator
  size_t fold_budget = size_t{256} << 20;  // bytes of constants computed ahead
  const KernelTable* kernels = nullptr;    // null: the CPU's
  Level level = Level::kNone;              // of optimization
  bool bf16 = false;                       // products with weights and of attention round their operands
  size_t value_cache = size_t{8} << 20;    // bytes of values that one step leaves in the cache for the next
  std::shared_ptr<Tuner> tuner;            // null: kernels are chosen by their estimates
};

// What kernels have packed here: by way of packing, the weights, their numbers among the node's inputs, and
// the node's attributes.
using MadePacks =
    std::map<std::tuple<std::string, std::vector<const Value*>, std::vector<int>, uint64_t>, Tensor>;

// What changes: the store of prepared kernels, which has a lock, and which of the program's weights are in
// memory, which changes only where plans of the model's own graph are made, one at a time. The lock is taken
// when plans are made, and in runs by steps whose shapes depend on data, and never for long: weights are
// packed and variants made without it, each by the first that wants it, for whom others wait who want the
// same. Where the first fails, the next of them tries. graph() may be read at any time.
class Model {
 public:
  static Result<std::shared_ptr<Model>> Create(std::shared_ptr<const Graph> graph,
                                               const ModelOptions& options, const Workers& workers);

  // As it runs. Where it was optimized, its own large constants have type and dims, but no data.
  const Graph& graph() const { return *graph_; }
  const Graph& source() const { return *source_; }  // as it was given; its overridable constants can be fed
  const Program& program() const { return *program_; }
  const KernelTable& kernels() const { return *kernels_; }
  bool bf16() const { return options_.bf16; }
  size_t value_cache() const { return options_.value_cache; }

  // The kernel for a node: the best legal one of those that pack weights in the way that is the best for the
  // node's usual dims; where it has none, any way may be taken, and weights stay in memory. Null: there is no
  // kernel. why: gets the reason, when it is asked for and there is one. What was run before never matters.
  Result<const KernelEntry*> Choose(const Node& node, const KernelQuery& query, int threads,
                                    Choice* why = nullptr);
  // Whether the way of packing is open; see Release.
  bool CanChoose(const Node& node) const;
  Tuner* tuner() const { return options_.tuner.get(); }
  // A copy of the node's kernel, prepared once. packed: called with the model's lock held when the kernel has
  // packed this input, before it goes on with others; what it calls is ReleaseHeld. stop: ends the wait for
  // another session that packs the same weights, with kCancelled; packing itself is not stopped.
  Result<std::unique_ptr<Kernel>> Prepared(const Node& node, const KernelEntry& entry,
                                           const KernelQuery& query,
                                           const std::function<void(int input)>& packed = nullptr,
                                           const Stop& stop = {});

  // Plans of the model's own graph are made one at a time: making them changes which weights are in memory.
  Result<CancellableMutex::Lock> CompileAlone(const Stop& stop) const {
    return compiling_.Acquire(stop, "another session, which makes its plan");
  }
  // Lets go of a slot's weight once all its readers have packed it for good, and says whether it did. Type
  // and dims stay in the program, whose weights nobody reads but who compiles alone, as the caller of this
  // does.
  bool Release(int slot);
  bool ReleaseHeld(int slot);  // the same with the model's lock held, as Prepared calls `packed`

  // The model with some of its overridable constants as further inputs, in the given order. Kept for the next
  // time. stop: ends the wait for another session that makes the same one, with kCancelled.
  Result<std::shared_ptr<Model>> Variant(const std::vector<std::string>& names, const Workers& workers,
                                         const Stop& stop = {});

  // Weights of the model's own graph as the kernels chosen so far have them, packed here or loaded.
  Packs packs() const;
  size_t weight_bytes() const { return weight_bytes_; }
  size_t folded_bytes() const { return folded_bytes_; }
  size_t packed_bytes() const;

 private:
  using KernelKey = std::pair<const Node*, const KernelEntry*>;
  class PackStore;

  explicit Model(const Workers& workers) : workers_(workers) {}
  void LeaveDataToProgram();
  const KernelEntry* Select(const KernelQuery& query, int threads, const std::string* pack, Reason& reason,
                            std::vector<Measured>& times) const;
  // The way of packing that serves all dims; nothing where none does, or nothing is packed.
  std::optional<std::string> PackFor(const Node& node, const KernelQuery& query, int threads);
  std::optional<std::string> DecidePack(const Node& node, const KernelQuery& query, int threads) const;
  std::unique_ptr<Kernel> FindPrepared(const KernelKey& key) const;  // null: there is none
  std::shared_ptr<Model> FindVariant(const std::vector<std::string>& names) const;
  std::shared_ptr<const Graph> source_, graph_;
  std::shared_ptr<Graph> own_graph_;  // graph_ where nobody else has it
  ModelOptions options_;
  const Workers workers_;  // that pack weights
  const KernelTable* kernels_ = nullptr;
  FoldedValues folded_;
  std::unique_ptr<Program> program_;
  size_t weight_bytes_ = 0, folded_bytes_ = 0;
  Packs loaded_;  // came with the graph

  mutable std::mutex mutex_;
  std::map<KernelKey, std::unique_ptr<Kernel>> prepared_;
  size_t packed_bytes_ = 0;
  Packs packs_;  // of prepared kernels, whether loaded or packed here
  MadePacks made_;
  std::map<const Node*, std::optional<std::string>> decided_;    // PackFor of nodes with weights
  std::map<std::pair<const Node*, int>, std::string> finished_;  // inputs that were packed, and in which way
  std::set<const Node*> released_;                               // nodes with weights that have left memory
  std::vector<std::pair<std::vector<std::string>, std::shared_ptr<Model>>> variants_;  // oldest first

  // Waited for without the lock. Who prepares a kernel waits for packs, one after the other; who packs waits
  // for nothing.
  mutable CancellableMutex compiling_;
  KeyedMutex<KernelKey> preparing_;
  KeyedMutex<MadePacks::key_type> packing_;
  KeyedMutex<std::vector<std::string>> varying_;
};

}  // namespace tern
