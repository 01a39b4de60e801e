#include "data/tokenizer/trie.h"

#include <algorithm>

namespace tern::data {

// Places the nodes in breadth-first order.
class TrieBuilder {
 public:
  explicit TrieBuilder(const std::vector<Trie::Entry>& entries) : entries_(entries), nodes_(257) {}

  Result<std::vector<Trie::Node>> Run() {
    pending_.push_back({0, entries_.size(), 0, Trie::kRoot});
    for (size_t k = 0; k < pending_.size(); ++k) TERN_TRY(Place(Group(pending_[k])));
    return std::move(nodes_);
  }

 private:
  // The entries [begin, end) lead to `node` with their first `depth` bytes.
  struct Group {
    size_t begin, end, depth;
    uint32_t node;
  };

  unsigned char Byte(size_t entry, size_t depth) const {
    return static_cast<unsigned char>(entries_[entry].key[depth]);
  }

  Status Place(Group g) {
    for (; g.begin < g.end && entries_[g.begin].key.size() == g.depth; ++g.begin)
      nodes_[g.node].value = entries_[g.begin].value;
    if (g.begin == g.end) return {};
    std::vector<unsigned char>& labels = labels_;
    labels.clear();
    for (size_t e = g.begin; e < g.end; ++e)
      if (labels.empty() || labels.back() != Byte(e, g.depth)) labels.push_back(Byte(e, g.depth));
    const size_t base = FindBase(labels);
    if (base + 256 >= Trie::kNone / sizeof(Trie::Node))
      return ResourceExhausted("the trie is larger than 4 GB");
    if (nodes_.size() < base + 512) nodes_.resize(std::max(base + 512, nodes_.size() + nodes_.size() / 2));
    nodes_[g.node].base = static_cast<uint32_t>(base);
    end_ = std::max(end_, base + labels.back() + 1);
    size_t e = g.begin;
    for (const unsigned char label : labels) {
      const auto child = static_cast<uint32_t>(base + label);
      nodes_[child].check = g.node + 1;
      const size_t begin = e;
      while (e < g.end && Byte(e, g.depth) == label) ++e;
      pending_.push_back({begin, e, g.depth + 1, child});
    }
    return {};
  }

  bool Free(size_t at) const { return at >= nodes_.size() || nodes_[at].check == 0; }

  // Returns a base at which all labels find a free node. The search is limited, so that the total time is
  // linear. If it finds no base, returns one behind the last node.
  size_t FindBase(const std::vector<unsigned char>& labels) {
    constexpr size_t kSteps = 1024;
    while (!Free(first_free_)) ++first_free_;
    size_t at = std::max<size_t>(first_free_, labels[0] + size_t{1});
    for (size_t step = 0; step < kSteps; ++step, ++at) {
      const size_t base = at - labels[0];
      if (std::all_of(labels.begin(), labels.end(), [&](unsigned char b) { return Free(base + b); }))
        return base;
    }
    first_free_ = std::max(first_free_, at - kSteps / 2);
    return std::max<size_t>(end_, labels[0] + size_t{1}) - labels[0];
  }

  const std::vector<Trie::Entry>& entries_;
  std::vector<Trie::Node> nodes_;
  std::vector<Group> pending_;
  std::vector<unsigned char> labels_;
  size_t first_free_ = 1;
  size_t end_ = 1;  // no node is here or behind
};

Result<Trie> Trie::Build(std::vector<Entry> entries) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
  TrieBuilder builder(entries);
  Trie trie;
  TERN_ASSIGN(trie.nodes_, builder.Run());
  return trie;
}

uint32_t Trie::Walk(uint32_t node, std::string_view text) const {
  for (size_t i = 0; i < text.size() && node != kNone; ++i) node = Child(node, text[i]);
  return node;
}

Trie::Match Trie::Longest(std::string_view text, uint32_t node) const {
  Match match;
  for (size_t i = 0; i < text.size(); ++i) {
    node = Child(node, text[i]);
    if (node == kNone) break;
    if (nodes_[node].value != kNone) match = {nodes_[node].value, i + 1};
  }
  return match;
}

}  // namespace tern::data
