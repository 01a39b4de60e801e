// Radix sort of numbers by bytes, from the lowest to the highest. It is stable.
#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace tern::v1::np {

template <class E> using KeyOf = std::conditional_t<sizeof(E) == 8, uint64_t, uint32_t>;

// Returns an unsigned number with the order of `value`. Both zeros have one key. NaN has the largest key.
template <class E> KeyOf<E> RadixKey(E value) {
  using U = KeyOf<E>;
  constexpr U kSign = U{1} << (sizeof(U) * 8 - 1);
  if constexpr (std::is_floating_point_v<E>) {
    if (std::isnan(value)) return ~U{0};
    const U bits = std::bit_cast<U>(value == 0 ? E{0} : value);
    return bits & kSign ? ~bits : bits | kSign;
  } else {
    return static_cast<U>(value) ^ kSign;
  }
}

// Sorts `items` by key(item). `scratch` has as many items.
template <class Item, class F>
void RadixSort(std::vector<Item>& items, std::vector<Item>& scratch, const F& key) {
  using U = decltype(key(items[0]));
  std::array<std::array<size_t, 256>, sizeof(U)> counts{};
  for (const Item& item : items)
    for (size_t byte = 0; byte < sizeof(U); ++byte) ++counts[byte][key(item) >> (8 * byte) & 255];
  for (size_t byte = 0; byte < sizeof(U); ++byte) {
    std::array<size_t, 256>& at = counts[byte];
    if (at[key(items[0]) >> (8 * byte) & 255] == items.size()) continue;  // all items share this byte
    size_t sum = 0;
    for (size_t& count : at) sum += std::exchange(count, sum);
    for (const Item& item : items) scratch[at[key(item) >> (8 * byte) & 255]++] = item;
    items.swap(scratch);
  }
}

}  // namespace tern::v1::np
