#include "passes/fold/cse.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "passes/rewrite/rewrite.h"

namespace tern {
namespace {

size_t Mix(size_t seed, size_t v) { return seed ^ (v + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2)); }

// Hashes only the first and last 256 bytes of a large tensor, because weights that differ only in between are
// rare.
size_t HashOf(const Tensor& t) {
  constexpr size_t kEnd = 256;
  size_t hash = Mix(static_cast<size_t>(t.dtype()), t.bytes());
  for (int64_t d : t.dims()) hash = Mix(hash, static_cast<size_t>(d));
  const std::string_view bytes(t.data<const char>(), t.bytes());
  if (bytes.size() <= 2 * kEnd) return Mix(hash, std::hash<std::string_view>()(bytes));
  hash = Mix(hash, std::hash<std::string_view>()(bytes.substr(0, kEnd)));
  return Mix(hash, std::hash<std::string_view>()(bytes.substr(bytes.size() - kEnd)));
}

// True if the subgraphs of `node` must not read values of enclosing graphs. A Fused node is closed,
// because its kernel gets only the inputs of the node.
bool IsClosed(const Node& node) { return node.op->name == "Fused"; }

class ConstantSharer {
 public:
  int Visit(Graph& graph) {
    int shared = 0;
    std::vector<size_t> added;
    for (const auto& v : graph.values()) {
      if (!v->is_constant() || v->output_uses || v->uses.empty()) continue;
      const Tensor& t = v->constant;
      if (!t.contiguous() || t.dtype() == DType::kString) continue;
      const size_t hash = HashOf(t);
      auto& candidates = seen_[hash];
      const auto equal = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const Value* o) { return SameTensor(o->constant, t); });
      if (equal == candidates.end()) {
        candidates.push_back(v.get());
        added.push_back(hash);
        continue;
      }
      graph.ReplaceUses(v.get(), *equal);
      ++shared;
    }
    for (const auto& node : graph.nodes())
      for (const auto& sub : node->subgraphs())
        shared += IsClosed(*node) ? ConstantSharer().Visit(*sub) : Visit(*sub);
    for (size_t hash : added) seen_[hash].pop_back();  // this graph's constants are not visible outside of it
    return shared;
  }

 private:
  std::unordered_map<size_t, std::vector<Value*>> seen_;
};

class NodeSharer {
 public:
  int Visit(Graph& graph) {
    int shared = 0;
    std::vector<size_t> added;
    for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
      Node& node = **it++;
      for (const auto& sub : node.subgraphs())
        shared += IsClosed(node) ? NodeSharer().Visit(*sub) : Visit(*sub);
      if (!node.op->Is(kPure) || node.op->Is(kRandom) || !node.subgraphs().empty()) continue;
      size_t hash = Hash(node);
      if (Node* equal = Find(node, hash)) {
        shared += Merge(*equal, node);
        continue;
      }
      seen_[hash].push_back(&node);
      added.push_back(hash);
    }
    for (size_t hash : added) seen_[hash].pop_back();
    return shared;
  }

 private:
  // Returns a node that is equal to `node`, or null. Hashing attributes takes long, so Find first compares
  // `node` with the nodes of the same op and inputs. Only if there are at least kFew of them, Find adds the
  // attributes to `hash` and looks again.
  Node* Find(const Node& node, size_t& hash) {
    constexpr size_t kFew = 8;
    const auto& candidates = seen_[hash];
    Node* equal = FindIn(candidates, node);
    if (equal || candidates.size() < kFew) return equal;
    hash = HashWithAttrs(node, hash);
    return FindIn(seen_[hash], node);
  }

  static Node* FindIn(const std::vector<Node*>& candidates, const Node& node) {
    const auto equal =
        std::find_if(candidates.begin(), candidates.end(), [&](const Node* o) { return Same(*o, node); });
    return equal == candidates.end() ? nullptr : *equal;
  }

  static size_t Hash(const Node& node) {
    size_t hash = std::hash<const void*>()(node.op);
    for (const Value* v : node.inputs()) hash = Mix(hash, std::hash<const void*>()(v));
    return Mix(hash, node.outputs().size());
  }

  static size_t HashWithAttrs(const Node& node, size_t hash) {
    for (const auto& attr : node.attrs.List()) hash = Mix(hash, HashOf(attr.value));
    return hash;
  }

  // Other values, such as lists and tensors, have the hash 0. Same() compares them.
  static size_t HashOf(const AttrValue& v) {
    if (const auto* i = std::get_if<int64_t>(&v)) return std::hash<int64_t>()(*i);
    if (const auto* d = std::get_if<double>(&v)) return std::hash<double>()(*d);
    if (const auto* text = std::get_if<std::string>(&v)) return std::hash<std::string>()(*text);
    return 0;
  }

  static bool Same(const Node& a, const Node& b) {
    return a.op == b.op && a.inputs() == b.inputs() && a.outputs().size() == b.outputs().size() &&
           a.attrs == b.attrs;
  }

  static bool Merge(Node& kept, Node& node) {
    for (size_t i = 0; i < node.outputs().size(); ++i) {  // an output of the graph must keep its name
      if (!node.outputs()[i]->output_uses) continue;
      if (kept.outputs()[i]->output_uses || kept.graph != node.graph) return false;
    }
    for (size_t i = 0; i < node.outputs().size(); ++i) {
      Value *from = node.outputs()[i], *to = kept.outputs()[i];
      if (from->output_uses) to->name = from->name;
      node.graph->ReplaceUses(from, to);
    }
    RemoveUnread(node);
    return true;
  }

  std::unordered_map<size_t, std::vector<Node*>> seen_;
};

}  // namespace

Result<int> ShareConstants(Graph& graph, PassContext&) {
  const int shared = ConstantSharer().Visit(graph);
  if (shared) graph.RemoveUnusedConstants();
  return shared;
}

Result<int> ShareNodes(Graph& graph, PassContext&) { return NodeSharer().Visit(graph); }

}  // namespace tern
