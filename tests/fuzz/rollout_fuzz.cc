// Parses requests about rollouts, policies and the state file.
#include <cstdlib>
#include <string_view>

#include "data/json_writer.h"
#include "entry.h"
#include "server/rollout/policy.h"
#include "server/rollout/request.h"
#include "server/rollout/state_file.h"

using namespace tern::server;

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto policy = ParsePolicy(text); policy.ok()) {
    tern::data::JsonWriter json;
    WritePolicy(*policy, json);
    if (!ParsePolicy(json.text()).ok()) std::abort();
  }
  if (const auto request = ParseRolloutRequest(text); request.ok() && !request->policy.empty())
    (void)ParsePolicy(request->policy).ok();
  const auto releases = ParseReleases(text);
  if (!releases.ok()) return 0;
  if (!ParseReleases(ReleasesText(*releases)).ok()) std::abort();
  return 0;
}
