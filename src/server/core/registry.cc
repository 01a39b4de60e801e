#include "server/core/registry.h"

#include <algorithm>

namespace tern::server {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Removes the leading zeros of a number with any number of digits.
std::string_view Significant(std::string_view digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? digits.substr(digits.size() - 1) : digits.substr(first);
}

}  // namespace

bool VersionLess(const std::string& a, const std::string& b) {
  if (!IsNumber(a) || !IsNumber(b)) return a < b;
  const std::string_view x = Significant(a), y = Significant(b);
  if (x.size() != y.size()) return x.size() < y.size();
  return x != y ? x < y : a < b;
}

const char* StateName(ModelState state) {
  switch (state) {
    case ModelState::kReady:
      return "READY";
    case ModelState::kUnavailable:
      return "UNAVAILABLE";
    case ModelState::kLoading:
      return "LOADING";
    case ModelState::kUnloading:
      return "UNLOADING";
    case ModelState::kUnknown:
      break;
  }
  return "UNKNOWN";
}

Result<std::shared_ptr<ModelVersion>> Registry::Find(std::string_view model, std::string_view version) const {
  const auto snapshot = std::atomic_load(&snapshot_);
  const auto found = snapshot->find(model);
  if (found == snapshot->end()) return NotFound("Request for unknown model: '", model, "' is not found");
  if (version.empty()) return found->second.back();
  for (const auto& candidate : found->second)
    if (candidate->version() == version) return candidate;
  return Unavailable("Request for unknown model: '", model, "' version ", version, " is not at ready state");
}

std::vector<std::shared_ptr<ModelVersion>> Registry::Versions(std::string_view model) const {
  const auto snapshot = std::atomic_load(&snapshot_);
  const auto found = snapshot->find(model);
  return found == snapshot->end() ? std::vector<std::shared_ptr<ModelVersion>>() : found->second;
}

std::vector<std::shared_ptr<ModelVersion>> Registry::All() const {
  const auto snapshot = std::atomic_load(&snapshot_);
  std::vector<std::shared_ptr<ModelVersion>> all;
  for (const auto& [name, versions] : *snapshot) all.insert(all.end(), versions.begin(), versions.end());
  return all;
}

void Registry::Publish(const std::string& model, std::vector<std::shared_ptr<ModelVersion>> versions) {
  std::sort(versions.begin(), versions.end(),
            [](const auto& a, const auto& b) { return VersionLess(a->version(), b->version()); });
  const std::lock_guard lock(writers_);
  auto next = std::make_shared<Snapshot>(*std::atomic_load(&snapshot_));
  if (versions.empty())
    next->erase(model);
  else
    (*next)[model] = std::move(versions);
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
}

}  // namespace tern::server
