// Finds the strings of a set that begin at a position of a text.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {

// A double-array trie over bytes: a node's child for byte b is base + b, if the check there names the node.
class Trie {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Entry {
    std::string_view key;  // not empty
    uint32_t value;        // not kNone
  };
  struct Match {
    uint32_t value = kNone;
    size_t length = 0;
  };

  Trie() : nodes_(257) {}
  // Of entries with equal keys, the last one is used. Fails if the trie would be larger than 4 GB.
  static Result<Trie> Build(std::vector<Entry> entries);

  static constexpr uint32_t kRoot = 0;
  // Returns the child of the node for a byte, or kNone.
  uint32_t Child(uint32_t node, char byte) const {
    const uint32_t at = nodes_[node].base + static_cast<unsigned char>(byte);
    return nodes_[at].check == node + 1 ? at : kNone;
  }
  uint32_t Value(uint32_t node) const { return nodes_[node].value; }  // kNone if no key ends here
  // Returns the node that `text` leads to from `node`, or kNone.
  uint32_t Walk(uint32_t node, std::string_view text) const;
  // The longest key that `text` starts with, from `node` on. Its length is 0 if there is none.
  Match Longest(std::string_view text, uint32_t node = kRoot) const;

 private:
  friend class TrieBuilder;
  struct Node {
    uint32_t base = 0;   // at least 1; base + 255 is a valid index
    uint32_t check = 0;  // the parent's index plus 1, or 0 for a free place
    uint32_t value = kNone;
  };
  std::vector<Node> nodes_;
};

}  // namespace tern::data
