// The tokens of a model: a map from token to id and back.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"

namespace tern::data {

// A hash map from strings to their index, 0 to size() - 1 in the order of Add. The hash has a random seed, so
// that a file cannot be made of strings that collide.
class StringTable {
 public:
  static constexpr uint32_t kNone = 0xffffffff;

  StringTable();
  // Returns the index of the string, and whether it is new. Fails if the strings have 4 GB in all.
  Result<std::pair<uint32_t, bool>> Add(std::string_view text);
  uint32_t Find(std::string_view text) const;  // kNone if there is none
  std::string_view operator[](uint32_t index) const {
    return std::string_view(bytes_).substr(ends_[index], ends_[index + 1] - ends_[index]);
  }
  size_t size() const { return ends_.size() - 1; }

 private:
  struct Slot {
    uint32_t hash, index;
  };
  uint64_t Hash(std::string_view text) const;
  void Grow();

  uint64_t seed_;
  std::string bytes_;
  std::vector<uint32_t> ends_{0};
  std::vector<Slot> slots_;
};

// Replaces an index if the vocabulary lacks the token.
inline constexpr uint32_t kNoToken = StringTable::kNone;

class Vocabulary {
 public:
  // Adds a token, or gives an existing one another id.
  Status Add(std::string_view token, uint32_t id);
  // Indices count the tokens from 0 and are independent of the ids. Index returns kNoToken if there is no
  // such token.
  uint32_t Index(std::string_view token) const { return table_.Find(token); }
  std::string_view Token(uint32_t index) const { return table_[index]; }
  uint32_t Id(uint32_t index) const { return ids_[index]; }
  size_t size() const { return ids_.size(); }

  std::optional<uint32_t> FindId(std::string_view token) const;
  std::optional<std::string_view> FindToken(uint32_t id) const;

 private:
  StringTable table_;
  std::vector<uint32_t> ids_;
  std::unordered_map<uint32_t, uint32_t> index_of_id_;
};

}  // namespace tern::data
