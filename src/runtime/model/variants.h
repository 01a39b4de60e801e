// Variants of a model in which some overridable constants are inputs.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/keyed_mutex.h"

namespace tern {

class Model;

// A thread-safe cache of up to 4 variants. A fifth variant replaces the oldest one.
class Variants {
 public:
  using Names = std::vector<std::string>;  // names of the constants that are inputs
  // Returns the cached variant for these names, or creates it with `make`. Waits while another thread creates
  // the same variant. If `stop` fires during this wait, returns kCancelled.
  Result<std::shared_ptr<Model>> Get(const Names& names, const Stop& stop,
                                     const std::function<Result<std::shared_ptr<Model>>()>& make);

 private:
  std::shared_ptr<Model> Find(const Names& names) const;

  mutable std::mutex mutex_;
  std::vector<std::pair<Names, std::shared_ptr<Model>>> models_;  // oldest first
  KeyedMutex<Names> making_;
};

}  // namespace tern
