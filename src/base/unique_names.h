#pragma once
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/strings.h"

namespace tern {

// Makes names distinct. A name that is taken gets a number: x, x_1, x_2. The total time for n equal names is
// O(n).
class UniqueNames {
 public:
  explicit UniqueNames(std::string separator = "_") : separator_(std::move(separator)) {}

  std::string Make(std::string name) {
    if (taken_.insert(name).second) return name;
    int& next = next_[name];
    for (;;) {
      std::string unique = StrCat(name, separator_, ++next);
      if (taken_.insert(unique).second) return unique;
    }
  }
  bool Has(const std::string& name) const { return taken_.count(name) > 0; }

 private:
  std::string separator_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // the last number that was appended to each name
};

}  // namespace tern
