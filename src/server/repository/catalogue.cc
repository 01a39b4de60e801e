#include "server/repository/catalogue.h"

#include <algorithm>

namespace tern::server {
namespace {

constexpr size_t kMaxFailures = 8;  // that one error lists

// Returns why the last load of a model failed, or "".
std::string FailureOf(const CatalogueEntry& entry) {
  std::vector<std::string> reasons;
  for (const auto& [number, version] : entry.versions)
    if (version.state == ModelState::kUnavailable && !version.reason.empty())
      reasons.push_back(entry.versions.size() > 1 ? StrCat("version ", number, ": ", version.reason)
                                                  : version.reason);
  return entry.error.empty() || reasons.empty() ? entry.error : Join(reasons, "; ");
}

}  // namespace

std::vector<IndexEntry> Catalogue::Index(const std::set<std::string>& existing, bool ready_only) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> names = existing;
  for (const auto& [name, entry] : entries_)
    if (!entry.versions.empty() || !entry.error.empty()) names.insert(name);
  std::vector<IndexEntry> out;
  for (const std::string& name : names) {
    const auto it = entries_.find(name);
    if (it == entries_.end() || it->second.versions.empty()) {
      const std::string error = it == entries_.end() ? "" : it->second.error;
      if (!ready_only)
        out.push_back({name, "", error.empty() ? ModelState::kUnknown : ModelState::kUnavailable, error});
      continue;
    }
    for (const auto& [number, version] : it->second.versions) {
      if (ready_only && version.state != ModelState::kReady) continue;
      const auto live = it->second.live.find(number);
      const bool noted = version.state == ModelState::kReady && live != it->second.live.end();
      out.push_back({name, number, version.state, noted ? live->second.model->StateNote() : version.reason});
    }
  }
  return out;
}

std::vector<std::string> Catalogue::Models() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, entry] : entries_) out.push_back(name);
  return out;
}

Status Catalogue::Failures(const std::function<bool(const std::string& model)>& of) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> lines;
  for (const auto& [model, entry] : entries_)
    if (const std::string failure = FailureOf(entry); !failure.empty() && of(model))
      lines.push_back(StrCat("model '", model, "' cannot be loaded: ", failure));
  if (lines.empty()) return {};
  if (const size_t count = lines.size(); count > kMaxFailures) {
    lines.resize(kMaxFailures);
    lines.push_back(StrCat("and ", count - kMaxFailures, " more models"));
  }
  return InvalidModel(Join(lines, "\n"));
}

bool Catalogue::Live(const std::string& model) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = entries_.find(model);
  return it != entries_.end() && !it->second.live.empty();
}

std::vector<std::string> Catalogue::SuspendedOn(const std::string& model) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, entry] : entries_)
    if (entry.suspended && entry.live.empty() &&
        std::count(entry.suspended->steps.begin(), entry.suspended->steps.end(), model) > 0)
      out.push_back(name);
  return out;
}

void Catalogue::Forget(const std::string& model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto it = entries_.find(model); it != entries_.end()) it->second.suspended.reset();
}

std::vector<std::string> Catalogue::Dependents(const std::string& model) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, entry] : entries_)
    if (!entry.live.empty() && std::find(entry.steps.begin(), entry.steps.end(), model) != entry.steps.end())
      out.push_back(name);
  return out;
}

}  // namespace tern::server
