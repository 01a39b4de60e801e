#include "runtime/model/variants.h"

#include "runtime/model/model.h"

namespace tern {
namespace {

constexpr size_t kMaxVariants = 4;

}  // namespace

std::shared_ptr<Model> Variants::Find(const Names& names) const {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [key, model] : models_)
    if (key == names) return model;
  return nullptr;
}

Result<std::shared_ptr<Model>> Variants::Get(const Names& names, const Stop& stop,
                                             const std::function<Result<std::shared_ptr<Model>>()>& make) {
  if (auto model = Find(names)) return model;
  TERN_ASSIGN(const auto making,
              making_.Acquire(names, stop, "another session that creates the model for the same inputs"));
  if (auto model = Find(names)) return model;
  TERN_ASSIGN(auto model, make());
  std::shared_ptr<Model> oldest;  // freed after the lock is released
  std::lock_guard<std::mutex> lock(mutex_);
  if (models_.size() == kMaxVariants) {
    oldest = std::move(models_.front().second);
    models_.erase(models_.begin());
  }
  models_.emplace_back(names, model);
  return model;
}

}  // namespace tern
