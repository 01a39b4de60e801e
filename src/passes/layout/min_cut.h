// The cheapest way to part a graph in two: Dinic's algorithm on whole capacities.
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
  // Paid when `from` is on the source's side and `to` on the sink's.
  void AddEdge(int from, int to, int64_t cost);
  // Paid once unless all of them are on the same side.
  void Join(const std::vector<int>& nodes, int64_t cost);

  // For each node whether it is on the sink's side; of several cheapest ways, the one with fewest such nodes.
  std::vector<bool> Solve();

 private:
  struct Edge {
    int to, back;  // back: the number of the opposite edge in `to`'s list
    int64_t room;
  };
  bool FindLevels();
  int64_t Push();

  std::vector<std::vector<Edge>> edges_;
  std::vector<int> level_, next_;
};

}  // namespace tern
