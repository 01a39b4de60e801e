#include "server/rollout/release.h"

#include <algorithm>

#include "base/status.h"
#include "server/core/registry.h"

namespace tern::server {
namespace {

constexpr size_t kMaxHistory = 32;

bool Has(const std::vector<std::string>& list, const std::string& version) {
  return std::find(list.begin(), list.end(), version) != list.end();
}

// Returns the newest version that may replace the stable one, or an empty text.
std::string NewestAfter(const Release& release, const std::vector<std::string>& versions) {
  std::string newest;
  for (const std::string& version : versions)
    if (!release.IsRejected(version) && VersionLess(release.stable, version) &&
        (newest.empty() || VersionLess(newest, version)))
      newest = version;
  return newest;
}

// Chooses another stable version, because the current one is not loaded, for example because its files are
// gone or the server starts. Prefers the newest version that is neither rejected nor the candidate.
void ChooseStable(Release& release, const std::vector<std::string>& loaded,
                  std::vector<ReleaseEvent>& events) {
  const std::string before = release.stable;
  std::string best;
  for (const std::string& version : loaded)
    if (!release.IsRejected(version) && (version != release.candidate || loaded.size() == 1)) best = version;
  if (best.empty()) best = loaded.back();
  if (release.pinned) events.push_back({0, "unpin", before, "the version is no longer there"});
  release.SetStable(best);
  release.pinned = false;
  events.push_back(
      {0, "stable", best,
       before.empty() ? "the first version" : StrCat("version ", before, " is no longer there")});
}

}  // namespace

bool Release::IsRejected(const std::string& version) const {
  return std::any_of(rejected.begin(), rejected.end(),
                     [&](const Rejected& entry) { return entry.version == version; });
}

void Release::Reject(const std::string& version, std::string reason) {
  Accept(version);
  rejected.push_back({version, std::move(reason)});
}

void Release::Accept(const std::string& version) {
  std::erase_if(rejected, [&](const Rejected& entry) { return entry.version == version; });
}

void Release::Add(ReleaseEvent event) {
  history.push_back(std::move(event));
  if (history.size() > kMaxHistory) history.erase(history.begin());
}

void Release::SetStable(const std::string& version) {
  stable = version;
  candidate.clear();
  step = 0;
  weight.reset();
  policy.clear();
  std::erase_if(rejected, [&](const Rejected& entry) { return !VersionLess(version, entry.version); });
}

void SelectForRelease(Release& release, const VersionChoice& choice, std::vector<std::string>& selected) {
  if (choice.existing.empty()) return;  // the folder cannot be read for a moment
  std::erase_if(release.rejected,
                [&](const Rejected& entry) { return !Has(choice.existing, entry.version); });
  std::vector<std::string> wanted;
  for (const std::string& version : selected)
    if (choice.specific || !release.IsRejected(version)) wanted.push_back(version);
  const auto add = [&](const std::string& version) {
    if (Has(choice.existing, version) && !Has(wanted, version)) wanted.push_back(version);
  };
  // Without rollouts, a newer version replaces the stable one when it is ready.
  const bool replaced = !choice.automatic && release.candidate.empty() && !release.stable.empty() &&
                        !NewestAfter(release, wanted).empty();
  if (!replaced) add(release.stable);
  add(release.candidate);
  for (const auto& [label, version] : release.labels) add(version);
  if (wanted.empty())
    return;  // every version is rejected; `selected` stays, because a rejected version is better than none
  std::sort(wanted.begin(), wanted.end(), VersionLess);
  selected = std::move(wanted);
}

std::vector<ReleaseEvent> UpdateRelease(Release& release, bool automatic,
                                        const std::vector<std::string>& loaded) {
  std::vector<ReleaseEvent> events;
  if (release.stable.empty() && !automatic) return events;
  if (!release.candidate.empty() && !Has(loaded, release.candidate)) {
    events.push_back({0, "abort", release.candidate, "the version is no longer there"});
    release.candidate.clear();
    release.weight.reset();
  }
  // Without rollouts, SelectForRelease lets a newer version replace the stable one.
  const bool replaced = !automatic && !release.stable.empty() && release.candidate.empty() &&
                        !NewestAfter(release, loaded).empty();
  if (!Has(loaded, release.stable) && !replaced) ChooseStable(release, loaded, events);
  const std::string newest = NewestAfter(release, loaded);
  if (newest.empty() || newest == release.candidate) return events;
  // A rollout that a person started goes on beside versions that the version policy loads.
  if (!automatic && !release.candidate.empty()) return events;
  if (release.pinned)
    events.push_back(
        {0, "unpin", release.stable, StrCat("version ", newest, " is loaded and passed its checks")});
  release.pinned = false;
  if (!automatic) {
    release.SetStable(newest);
    events.push_back({0, "stable", newest, "a newer version is loaded"});
    return events;
  }
  if (!release.candidate.empty()) {
    // The old candidate is rejected, so that it does not come back if the newer one is rejected.
    const std::string reason = StrCat("version ", newest, " is newer");
    release.Reject(release.candidate, reason);
    events.push_back({0, "abort", release.candidate, reason});
  }
  release.candidate = newest;
  release.step = 0;
  release.weight.reset();
  release.policy.clear();
  events.push_back({0, "start", newest, StrCat("beside the stable version ", release.stable)});
  return events;
}

}  // namespace tern::server
