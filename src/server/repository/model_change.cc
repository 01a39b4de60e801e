// The parts of ModelLoads that unload old versions before new ones are loaded, and that report the memory of
// a change.
#include <algorithm>
#include <cstdio>

#include "server/core/log.h"
#include "server/repository/model_loads.h"

namespace tern::server {
namespace {

constexpr std::chrono::seconds kDrainLimit{60};  // for requests that the old versions have accepted
constexpr std::chrono::seconds kFreeLimit{5};    // for responses that still use an old version's memory

std::string Names(const std::vector<std::string>& versions) { return Join(versions, ", "); }

std::string Megabytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

bool Exists(const std::vector<std::weak_ptr<ModelVersion>>& versions) {
  return std::any_of(versions.begin(), versions.end(),
                     [](const auto& version) { return !version.expired(); });
}

std::shared_ptr<ModelVersion> Latest(const LiveVersions& live) {
  std::shared_ptr<ModelVersion> latest;
  for (const auto& [number, version] : live)
    if (!latest || VersionLess(latest->version(), number)) latest = version.model;
  return latest;
}

std::vector<std::shared_ptr<ModelVersion>> ModelsOf(const LiveVersions& live) {
  std::vector<std::shared_ptr<ModelVersion>> out;
  for (const auto& [number, version] : live) out.push_back(version.model);
  return out;
}

}  // namespace

ModelLoads::Gap ModelLoads::OpenGap(const ModelSource& from, const std::string& config_json) {
  const std::string& name = from.name;
  LiveVersions live = catalogue_.With(name, [](CatalogueEntry& e) { return e.live; });
  if (live.empty()) return {};
  const auto plan = Guard([&] { return loader_.Plan(from, config_json); });
  if (!plan.ok() || plan->ensemble || plan->life_cycle.order != ChangeOrder::kUnloadFirst) return {};
  if (!plan->missing.empty() || !loader_.CheckFiles(from, *plan).ok()) return {};
  Gap gap;
  for (const auto& [version, live_version] : live) {
    if (plan->Keeps(version, live)) {
      gap.kept[version] = live_version;
      continue;
    }
    gap.closed.push_back(version);
    gap.origins[version] = live_version.origin;
  }
  for (const auto& [version, fingerprint] : plan->versions) {
    if (gap.kept.count(version)) continue;
    const auto same = live.find(version);
    const ModelVersion& known = same == live.end() ? *Latest(live) : *same->second.model;
    gap.holders[version] = std::make_shared<HoldingVersion>(known.config(), version, hold_timer_);
    gap.holders[version]->DescribeLike(known);
  }
  if (gap.closed.empty() || gap.holders.empty()) return {};
  std::vector<std::shared_ptr<ModelVersion>> published = ModelsOf(gap.kept);
  for (const auto& [version, holder] : gap.holders) published.push_back(holder);
  registry_.Publish(name, std::move(published));
  catalogue_.With(name, [&](CatalogueEntry& e) {
    gap.config = e.config;
    e.live = gap.kept;
    for (const std::string& version : gap.closed) e.versions[version] = {ModelState::kUnloading, ""};
  });
  EndVersions(name, gap.closed, std::move(live));
  return gap;
}

// Drains the versions and waits until their memory is free.
void ModelLoads::EndVersions(const std::string& model, const std::vector<std::string>& versions,
                             LiveVersions live) {
  std::vector<std::weak_ptr<ModelVersion>> ended;
  for (const std::string& version : versions) {
    ended.push_back(live[version].model);
    scheduler_.Retire(live[version].model, kDrainLimit);
  }
  live.clear();
  catalogue_.With(model, [&](CatalogueEntry& e) { e.ended.push_back(ended); });
  const auto end = Clock::now() + kFreeLimit;
  while (Exists(ended) && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  if (Exists(ended))
    Log(LogLevel::kWarning, StrCat("model '", model, "': responses still use the memory of version ",
                                   Names(versions), " while its successor is loaded"));
}

void ModelLoads::RestoreVersions(const std::string& model, const Gap& gap) {
  LiveVersions live = gap.kept;
  const LoadResult restored = loader_.Restore(gap.origins, gap.config);
  live.insert(restored.versions.begin(), restored.versions.end());
  Status status;
  for (const auto& [version, failure] : restored.failures) status = failure;
  registry_.Publish(model, ModelsOf(live));
  catalogue_.With(model, [&](CatalogueEntry& e) { e.live = live; });
  if (status.ok())
    Log(LogLevel::kWarning, StrCat("model '", model, "': version ", Names(gap.closed), " is loaded again"));
  else
    Log(LogLevel::kError, StrCat("model '", model, "': version ", Names(gap.closed),
                                 " cannot be loaded again: ", status.message()));
}

void ModelLoads::CloseGap(const std::string& model, const Gap& gap) {
  const LiveVersions live = catalogue_.With(model, [](CatalogueEntry& e) { return e.live; });
  for (const auto& [version, holder] : gap.holders) {
    const auto same = live.find(version);
    const std::shared_ptr<ModelVersion> target = same == live.end() ? Latest(live) : same->second.model;
    if (target)
      holder->Open(target);
    else
      holder->Drain(std::chrono::milliseconds(0), true);
  }
}

void ModelLoads::Report(const std::string& model, const LoadResult& result, ChangeMemory memory,
                        const Gap& gap, std::chrono::nanoseconds duration) {
  memory.unload_first = !gap.closed.empty();
  const LiveVersions live = catalogue_.With(model, [](CatalogueEntry& e) { return e.live; });
  std::vector<std::string> added, old = gap.closed;
  for (const auto& [version, live_version] : result.versions) {
    const auto known = live.find(version);
    if (known != live.end() && known->second.model == live_version.model) continue;
    live_version.model->SetChangeMemory(memory);
    added.push_back(version);
  }
  for (const auto& [version, live_version] : live) {
    const auto stays = result.versions.find(version);
    if (stays == result.versions.end() || stays->second.model != live_version.model) old.push_back(version);
  }
  if (added.empty() || old.empty() || !result.failures.empty()) return;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.2f s", std::chrono::duration<double>(duration).count());
  Log(LogLevel::kInfo,
      StrCat("model '", model, "': version ", Names(added), " replaces ", Names(old), " after ", seconds,
             memory.unload_first ? " (unload first)" : " (load first)", "; resident memory ",
             Megabytes(memory.before), " before, ", Megabytes(memory.peak), " at the peak"));
}

}  // namespace tern::server
