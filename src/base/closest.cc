#include "base/closest.h"

#include <algorithm>

namespace tern {

size_t EditDistance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between the first characters of `a` and those of `b`.
  std::vector<size_t> row(b.size() + 1), last(b.size() + 1), before(b.size() + 1);
  for (size_t k = 0; k <= b.size(); ++k) last[k] = k;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t k = 1; k <= b.size(); ++k) {
      row[k] = std::min({last[k - 1] + (a[i - 1] == b[k - 1] ? 0 : 1), last[k] + 1, row[k - 1] + 1});
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        row[k] = std::min(row[k], before[k - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
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
