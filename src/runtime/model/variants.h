// Models made from another one by turning some of its overridable constants into inputs.
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

// Thread-safe. Keeps the last few.
class Variants {
 public:
  using Names = std::vector<std::string>;  // of the constants that are inputs
  // The variant for these names, made by `make` where there is none. Others that want the same wait for it.
  Result<std::shared_ptr<Model>> Get(const Names& names, const Stop& stop,
                                     const std::function<Result<std::shared_ptr<Model>>()>& make);

 private:
  std::shared_ptr<Model> Find(const Names& names) const;

  mutable std::mutex mutex_;
  std::vector<std::pair<Names, std::shared_ptr<Model>>> models_;  // oldest first
  KeyedMutex<Names> making_;
};

}  // namespace tern
