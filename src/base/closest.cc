#include "base/closest.h"

#include <algorithm>

namespace tern {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) row[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t before = row[0];
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      const size_t change = before + (a[i - 1] == b[k - 1] ? 0 : 1);
      before = row[k];
      row[k] = std::min({change, row[k] + 1, row[k - 1] + 1});
    }
  }
  return row[b.size()];
}

const std::string* Closest(const std::string& name, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  if (name.size() >= 64) return best;
  size_t least = std::min<size_t>(3, std::max<size_t>(1, name.size() / 2)) + 1;
  for (const std::string& candidate : known)
    if (const size_t distance = EditDistance(name, candidate); distance < least) {
      least = distance;
      best = &candidate;
    }
  return best;
}

}  // namespace tern
