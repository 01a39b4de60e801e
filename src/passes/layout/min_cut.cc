#include "passes/layout/min_cut.h"

#include <algorithm>

namespace tern {

void MinCut::AddEdge(int from, int to, int64_t cost) {
  if (from == to || cost <= 0) return;
  auto &out = edges_[static_cast<size_t>(from)], &in = edges_[static_cast<size_t>(to)];
  out.push_back({to, static_cast<int>(in.size()), cost});
  in.push_back({from, static_cast<int>(out.size()) - 1, 0});
}

// `any` is on the source side if at least one of `nodes` is. `all` is on the sink side if at least one of
// `nodes` is. The edge between `any` and `all` is then cut if `nodes` are on both sides.
void MinCut::Join(const std::vector<int>& nodes, int64_t cost) {
  if (nodes.size() < 2 || cost <= 0) return;
  const int any = AddNode(), all = AddNode();
  AddEdge(any, all, cost);
  for (int node : nodes) {
    AddEdge(node, any, kInfinite);
    AddEdge(all, node, kInfinite);
  }
}

bool MinCut::FindLevels() {
  level_.assign(edges_.size(), -1);
  level_[kSource] = 0;
  std::vector<int> queue = {kSource};
  for (size_t i = 0; i < queue.size(); ++i)
    for (const Edge& e : edges_[static_cast<size_t>(queue[i])]) {
      int& level = level_[static_cast<size_t>(e.to)];
      if (e.capacity <= 0 || level >= 0) continue;
      level = level_[static_cast<size_t>(queue[i])] + 1;
      queue.push_back(e.to);
    }
  return level_[kSink] >= 0;
}

// Augments the flow along one path. Does not recurse, because a model may be thousands of nodes deep.
int64_t MinCut::Push() {
  std::vector<std::pair<int, int>> path;  // a node, and the index of its edge on the path
  int at = kSource;
  while (at != kSink) {
    auto& list = edges_[static_cast<size_t>(at)];
    int& next = next_[static_cast<size_t>(at)];
    while (next < static_cast<int>(list.size())) {
      const Edge& e = list[static_cast<size_t>(next)];
      if (e.capacity > 0 && level_[static_cast<size_t>(e.to)] == level_[static_cast<size_t>(at)] + 1) break;
      ++next;
    }
    if (next < static_cast<int>(list.size())) {
      path.emplace_back(at, next);
      at = list[static_cast<size_t>(next)].to;
      continue;
    }
    if (path.empty()) return 0;
    at = path.back().first;
    ++next_[static_cast<size_t>(at)];
    path.pop_back();
  }
  int64_t flow = kInfinite;
  for (const auto& [node, i] : path)
    flow = std::min(flow, edges_[static_cast<size_t>(node)][static_cast<size_t>(i)].capacity);
  for (const auto& [node, i] : path) {
    Edge& e = edges_[static_cast<size_t>(node)][static_cast<size_t>(i)];
    e.capacity -= flow;
    edges_[static_cast<size_t>(e.to)][static_cast<size_t>(e.back)].capacity += flow;
  }
  return flow;
}

std::vector<bool> MinCut::Solve() {
  while (FindLevels()) {
    next_.assign(edges_.size(), 0);
    while (Push() > 0) {
    }
  }
  // Marks the nodes that still reach the sink in the residual graph.
  std::vector<bool> sink(edges_.size(), false);
  sink[kSink] = true;
  std::vector<int> queue = {kSink};
  for (size_t i = 0; i < queue.size(); ++i)
    for (const Edge& e : edges_[static_cast<size_t>(queue[i])]) {
      const Edge& forward = edges_[static_cast<size_t>(e.to)][static_cast<size_t>(e.back)];
      if (forward.capacity <= 0 || sink[static_cast<size_t>(e.to)]) continue;
      sink[static_cast<size_t>(e.to)] = true;
      queue.push_back(e.to);
    }
  return sink;
}

}  // namespace tern
