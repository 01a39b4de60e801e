// A request that changes a rollout or a label.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tern::server {

enum class RolloutAction { kStart, kWeight, kPromote, kRollback, kPin, kUnpin, kAbort, kLabel };

struct RolloutRequest {
  RolloutAction action = RolloutAction::kStart;
  std::string version, stable, label, reason;
  std::string policy;            // a JSON object; empty: none
  std::optional<double> weight;  // empty: the policy's steps
  bool has_version = false;      // `version` may be null, which removes a label
};

// Reads {"action": "start", "version": "3", …}. Versions may be numbers, too. Fails with kInvalidArgument for
// unknown members, for members that the action does not take, and for missing ones.
Result<RolloutRequest> ParseRolloutRequest(std::string_view json);

}  // namespace tern::server
