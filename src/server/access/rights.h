// What an operation needs, and what a role grants.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "server/core/restrictions.h"

namespace tern::server {

// What a request must be permitted to do.
enum class Right : uint8_t {
  kHealth,        // ask whether the server lives and is ready; may be open to everyone
  kAny,           // nothing but an identity, such as for a path that does not exist
  kDescribe,      // read what a client must know of a model: metadata, configuration, readiness
  kInfer,         // run a model
  kObserve,       // read statistics, metrics, settings and the repository's index
  kSharedMemory,  // register shared memory and use it in requests
  kAdmin,         // load and unload models, change settings
};
inline constexpr int kRights = 7;
const char* RightName(Right right);  // "shared-memory"

// A set of roles, as bits.
using Roles = uint8_t;
enum Role : Roles { kRoleInfer = 1, kRoleObserve = 2, kRoleSharedMemory = 4, kRoleAdmin = 8 };
Result<Roles> ParseRole(std::string_view name);  // "infer", "observe", "shared-memory" or "admin"
std::string RoleNames(Roles roles);              // "infer,observe"

bool Permits(Roles roles, Right right);

// Returns what an operation of a group needs. `writes`: it changes the server. `of_model`: it names a model,
// so its answer tells whether the model exists. An operation without a group needs kAdmin.
Right RightOf(ApiGroup group, bool writes, bool of_model);

// Returns whether a name matches a pattern, in which '*' stands for any text.
bool MatchesPattern(std::string_view name, std::string_view pattern);

}  // namespace tern::server
