// Minimum s-t cut by Dinic's algorithm, with integer capacities.
#pragma once
#include <cstdint>
#include <vector>

namespace tern {

class MinCut {
 public:
  static constexpr int64_t kInfinite = int64_t{1} << 60;
  static constexpr int kSource = 0, kSink = 1;

  MinCut() : edges_(2) {}
  int AddNode() {
    edges_.emplace_back();
    return static_cast<int>(edges_.size()) - 1;
  }
  // `cost` is paid when `from` is on the source side and `to` on the sink side.
  void AddEdge(int from, int to, int64_t cost);
  // `cost` is paid once if the nodes are not all on the same side.
  void Join(const std::vector<int>& nodes, int64_t cost);

  // Returns for each node whether it is on the sink side. Among several minimum cuts, returns the one with
  // the fewest nodes on the sink side.
  std::vector<bool> Solve();

 private:
  struct Edge {
    int to, back;  // `back` is the index of the reverse edge in edges_[to]
    int64_t capacity;
  };
  bool FindLevels();
  int64_t Push();

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_, next_;
};

}  // namespace tern
