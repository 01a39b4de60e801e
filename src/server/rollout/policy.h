// How a rollout of a new version proceeds: the parameter tern_rollout of a model's configuration, or "policy"
// of a request.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tern::data {
class JsonWriter;
}

namespace tern::server {

inline constexpr const char* kRolloutParameter = "tern_rollout";

enum class CompareMode { kValues, kTop1 };
enum class OnTimeout { kHold, kRollback, kPromote };

struct RolloutPolicy {
  // The share of requests, in percent, that the candidate answers in each step. 0: the candidate only gets
  // copies.
  std::vector<double> steps{0, 10, 50};
  double step_seconds = 10;        // the shortest duration of a step
  int64_t step_requests = 100;     // the candidate answers at least this many, or as many copies, in a step
  double mirror = 100;             // percent of the stable version's requests whose copies the candidate gets
  double mirror_per_second = 250;  // at most; 0: no limit
  int64_t mirror_bytes = int64_t{64} << 20;  // tensors of copies in memory, at most
  // Copies that the stable version runs too, so that both are timed under the same conditions. 0: none.
  double control_per_second = 20;
  double confidence = 0.99;
  // A version at or beyond a limit is bad. Empty: there is no such test. max_slowdown is relative: 0.2 is 20
  // % longer.
  std::optional<double> max_error_rate = 0.001, max_disagreement = 0.01, max_slowdown = 0.2;
  CompareMode compare = CompareMode::kValues;
  double absolute_tolerance = 1e-4, relative_tolerance = 1e-3;
  double hang_seconds = 10;         // a request that the candidate has not answered by then counts as failed
  std::string key = "rollout_key";  // the request parameter that makes the choice of a version sticky
  bool promote = true;              // false: the last step is kept until somebody promotes the version
  double timeout_seconds = 0;       // for the whole rollout; 0: none
  OnTimeout on_timeout = OnTimeout::kHold;
};

// Reads a JSON object. Members that it lacks keep the values of `defaults`. Fails with kInvalidArgument for
// unknown members and for values out of range; the message names the member and its bounds.
Result<RolloutPolicy> ParsePolicy(std::string_view json, const RolloutPolicy& defaults = {});
void WritePolicy(const RolloutPolicy& policy, data::JsonWriter& json);

}  // namespace tern::server
