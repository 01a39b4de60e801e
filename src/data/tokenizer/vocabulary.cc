#include "data/tokenizer/vocabulary.h"

#include <cstring>
#include <random>

namespace tern::data {
namespace {

uint64_t Mix(uint64_t a, uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) | 1;
}

}  // namespace

StringTable::StringTable() : seed_(RandomSeed()), slots_(16, Slot{0, kNone}) {}

uint64_t StringTable::Hash(std::string_view text) const {
  const char* p = text.data();
  size_t n = text.size();
  uint64_t hash = seed_ ^ n;
  for (; n > 8; n -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = Mix(hash ^ word, 0x9e3779b97f4a7c15u ^ (seed_ << 1));
  }
  uint64_t word = 0;
  if (n > 0) std::memcpy(&word, p, n);
  return Mix(hash ^ word, 0xd6e8feb86659fd93u ^ (seed_ << 1));
}

Result<std::pair<uint32_t, bool>> StringTable::Add(std::string_view text) {
  const uint64_t hash = Hash(text);
  size_t slot = hash & (slots_.size() - 1);
  for (; slots_[slot].index != kNone; slot = (slot + 1) & (slots_.size() - 1))
    if (slots_[slot].hash == hash >> 32 && (*this)[slots_[slot].index] == text)
      return std::pair<uint32_t, bool>{slots_[slot].index, false};
  if (bytes_.size() + text.size() >= kNone || size() + 1 >= kNone)
    return ResourceExhausted("the vocabulary is larger than 4 GB");
  const auto index = static_cast<uint32_t>(size());
  slots_[slot] = {static_cast<uint32_t>(hash >> 32), index};
  bytes_ += text;
  ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  if (size() * 2 > slots_.size()) Grow();
  return std::pair<uint32_t, bool>{index, true};
}

void StringTable::Grow() {
  std::vector<Slot> slots(slots_.size() * 2, Slot{0, kNone});
  for (uint32_t index = 0; index < size(); ++index) {
    const uint64_t hash = Hash((*this)[index]);
    size_t slot = hash & (slots.size() - 1);
    while (slots[slot].index != kNone) slot = (slot + 1) & (slots.size() - 1);
    slots[slot] = {static_cast<uint32_t>(hash >> 32), index};
  }
  slots_ = std::move(slots);
}

uint32_t StringTable::Find(std::string_view text) const {
  const uint64_t hash = Hash(text);
  for (size_t slot = hash & (slots_.size() - 1); slots_[slot].index != kNone;
       slot = (slot + 1) & (slots_.size() - 1))
    if (slots_[slot].hash == hash >> 32 && (*this)[slots_[slot].index] == text) return slots_[slot].index;
  return kNone;
}

Status Vocabulary::Add(std::string_view token, uint32_t id) {
  TERN_ASSIGN(const auto added, table_.Add(token));
  const auto [index, is_new] = added;
  if (is_new)
    ids_.push_back(id);
  else
    ids_[index] = id;
  index_of_id_[id] = index;
  return {};
}

std::optional<uint32_t> Vocabulary::FindId(std::string_view token) const {
  const uint32_t index = Index(token);
  if (index == StringTable::kNone) return std::nullopt;
  return ids_[index];
}

std::optional<std::string_view> Vocabulary::FindToken(uint32_t id) const {
  const auto it = index_of_id_.find(id);
  if (it == index_of_id_.end()) return std::nullopt;
  return table_[it->second];
}

}  // namespace tern::data
