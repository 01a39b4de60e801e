// Which weights of a model's own graph are in memory. A weight leaves it when all its readers have packed it
// for good.
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

// Thread-safe. Type and dims of a released weight stay known. Whoever read a weight before its release keeps
// its bytes alive as long as needed.
class Residency {
 public:
  // may_release: false where somebody else holds the graph, or wants its weights kept.
  Residency(Program& program, bool may_release) : program_(program), may_release_(may_release) {}

  Tensor Weight(int slot) const;
  std::vector<Tensor> Weights() const;  // by slot; undefined where the value is no weight

  // The pack layout that serves all dims of a node, once it is decided; an empty optional in it: none does.
  std::optional<std::optional<std::string>> DecidedPack(const Node& node) const;
  // Returns the layout that was decided first.
  std::optional<std::string> DecidePack(const Node& node, const std::optional<std::string>& pack);

  // A kernel has packed this input in this layout and never reads it again.
  void SetPacked(const Node& node, int input, const std::string& pack);
  // Releases the slot's weight if all its readers have packed it in their decided layouts. Returns whether it
  // did.
  bool Release(int slot);
  // A weight of the node was released: only kernels of its decided layout can run it.
  bool HasReleased(const Node& node) const;

 private:
  Program& program_;
  const bool may_release_;
  mutable std::mutex mutex_;
  std::map<const Node*, std::optional<std::string>> decided_;
  std::map<std::pair<const Node*, int>, std::string> packed_;
  std::set<const Node*> released_;
};

// Same type and dims, no bytes.
Tensor WithoutData(const Tensor& t);

// Weights below this many bytes stay in memory.
inline constexpr size_t kWorthReleasing = size_t{16} << 10;

}  // namespace tern
