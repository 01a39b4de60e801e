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

using Versions = std::vector<std::shared_ptr<ModelVersion>>;

bool Has(const Versions& versions, const std::string& version) {
  return std::any_of(versions.begin(), versions.end(),
                     [&](const auto& v) { return v->version() == version; });
}

// Replaces `versions` by `next`. Adds each version that `next` lacks to `gone`.
void Replace(Versions& versions, std::vector<std::string>& gone, Versions next) {
  constexpr size_t kMaxGone = 64;
  std::erase_if(gone, [&](const std::string& version) { return Has(next, version); });
  for (const auto& old : versions)
    if (!Has(next, old->version())) gone.push_back(old->version());
  if (gone.size() > kMaxGone) gone.erase(gone.begin(), gone.end() - kMaxGone);
  versions = std::move(next);
}

}  // namespace

bool VersionLess(const std::string& a, const std::string& b) {
  if (!IsNumber(a) || !IsNumber(b)) return a < b;
  const std::string_view x = Significant(a), y = Significant(b);
  if (x.size() != y.size()) return x.size() < y.size();
  return x != y ? x < y : a < b;
}

bool IsLabelName(std::string_view name) {
  constexpr size_t kMaxLength = 128;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && name.size() <= kMaxLength && letter(name[0]) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; });
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
  const auto& [versions, gone, route] = found->second;
  if (version.empty()) return route.unversioned ? route.unversioned : versions.back();
  for (const auto& candidate : versions)
    if (candidate->version() == version) return candidate;
  if (std::find(gone.begin(), gone.end(), version) == gone.end())
    return IsLabelName(version)
               ? Labelled(model, found->second, version)
               : NotFound("Request for unknown model: '", model, "' version ", version, " is not found");
  return Unavailable("Request for unknown model: '", model, "' version ", version, " is not at ready state");
}

Result<std::shared_ptr<ModelVersion>> Registry::Labelled(std::string_view model, const Model& entry,
                                                         std::string_view label) {
  const auto found = entry.route.labels.find(label);
  if (found == entry.route.labels.end())
    return NotFound("Request for unknown model: '", model, "' version ", label,
                    " is not found: the model has no label '", label, "'");
  const auto& [version, through] = found->second;
  for (const auto& candidate : entry.versions)
    if (candidate->version() == version) return through ? through : candidate;
  return Unavailable("Request for unknown model: '", model, "' version ", version, ", which label '", label,
                     "' names, is not at ready state");
}

Result<std::shared_ptr<ModelVersion>> Registry::FindLabel(std::string_view model,
                                                          std::string_view label) const {
  const auto snapshot = std::atomic_load(&snapshot_);
  const auto found = snapshot->find(model);
  if (found == snapshot->end()) return NotFound("Request for unknown model: '", model, "' is not found");
  return Labelled(model, found->second, label);
}

std::map<std::string, std::string> Registry::Labels(std::string_view model) const {
  const auto snapshot = std::atomic_load(&snapshot_);
  std::map<std::string, std::string> labels;
  if (const auto found = snapshot->find(model); found != snapshot->end())
    for (const auto& [name, label] : found->second.route.labels) labels[name] = label.version;
  return labels;
}

std::vector<std::shared_ptr<ModelVersion>> Registry::Versions(std::string_view model) const {
  const auto snapshot = std::atomic_load(&snapshot_);
  const auto found = snapshot->find(model);
  return found == snapshot->end() ? std::vector<std::shared_ptr<ModelVersion>>() : found->second.versions;
}

std::vector<std::shared_ptr<ModelVersion>> Registry::All() const {
  const auto snapshot = std::atomic_load(&snapshot_);
  std::vector<std::shared_ptr<ModelVersion>> all;
  for (const auto& [name, entry] : *snapshot)
    all.insert(all.end(), entry.versions.begin(), entry.versions.end());
  return all;
}

void Registry::Publish(const std::string& model, std::vector<std::shared_ptr<ModelVersion>> versions) {
  std::sort(versions.begin(), versions.end(),
            [](const auto& a, const auto& b) { return VersionLess(a->version(), b->version()); });
  const std::lock_guard lock(writers_);
  auto next = std::make_shared<Snapshot>(*std::atomic_load(&snapshot_));
  VersionRoute route;
  if (router_) route = router_(model, versions);  // also if no versions are left: the router must know
  if (versions.empty()) {
    next->erase(model);
  } else {
    Model& entry = (*next)[model];
    Replace(entry.versions, entry.gone, std::move(versions));
    if (!router_)
      for (const auto& [name, label] : entry.route.labels) route.labels[name] = {label.version, nullptr};
    entry.route = std::move(route);
  }
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
}

void Registry::SetRoute(const std::string& model, VersionRoute route) {
  const std::lock_guard lock(writers_);
  auto next = std::make_shared<Snapshot>(*std::atomic_load(&snapshot_));
  const auto found = next->find(model);
  if (found == next->end()) return;
  found->second.route = std::move(route);
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
}

void Registry::SetRouter(Router router) {
  const std::lock_guard lock(writers_);
  router_ = std::move(router);
}

void Registry::Reroute(const std::string& model) {
  const std::lock_guard lock(writers_);
  auto next = std::make_shared<Snapshot>(*std::atomic_load(&snapshot_));
  const auto found = next->find(model);
  if (!router_ || found == next->end()) return;
  found->second.route = router_(model, found->second.versions);
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
}

}  // namespace tern::server
