// Tracks which weights of the main graph are in memory. A weight is released when all its readers have packed
// it in the layout that was decided for them.
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/model/program.h"

namespace tern {

// Thread-safe. A released weight keeps its type and dims. A Tensor that was read before the release keeps the
// bytes alive.
class Residency {
 public:
  // `may_release` is false if the graph has other owners or options.keep_weights is set.
  Residency(Program& program, bool may_release) : program_(program), may_release_(may_release) {}

  Tensor Weight(int slot) const;
  std::vector<Tensor> Weights() const;  // by slot; undefined if the value is not a weight

  // Returns the pack layout that the node uses for all dims. If the outer optional is empty, the layout is
  // not decided yet. If the inner optional is empty, no layout serves all dims.
  std::optional<std::optional<std::string>> DecidedPack(const Node& node) const;
  // Sets the node's layout to `pack` unless the layout is already decided. Returns the decided layout.
  std::optional<std::string> DecidePack(const Node& node, const std::optional<std::string>& pack);

  // Records that a kernel has packed this input in this layout and never reads the weight again.
  void SetPacked(const Node& node, int input, const std::string& pack);
  // Releases the weight of the slot if all its readers have packed it in their decided layouts and no reader
  // has subgraphs. Keeps outputs of the graph and weights of fewer than kWorthReleasing bytes. Returns
  // whether it released the weight.
  bool Release(int slot);
  // Returns whether a weight of the node was released. If so, only kernels with the decided layout can run
  // the node.
  bool HasReleased(const Node& node) const;

 private:
  Program& program_;
  const bool may_release_;
  mutable std::mutex mutex_;
  std::map<const Node*, std::optional<std::string>> decided_;
  std::map<std::pair<const Node*, int>, std::string> packed_;
  std::set<const Node*> released_;
};

// Returns a tensor of the same type and dims without data.
Tensor WithoutData(const Tensor& t);

// Size in bytes below which a weight is never released.
inline constexpr size_t kWorthReleasing = size_t{16} << 10;

}  // namespace tern
