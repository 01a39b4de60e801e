// Adds a token to an access file.
#pragma once
#include <string>
#include <vector>

#include "base/status.h"

namespace tern::server {

struct TokenCommand {
  std::string file, name, tenant;
  std::vector<std::string> roles, models;
  std::string expires;  // "90d", "12h", or a time such as 2027-01-31T12:00:00Z; empty: never
  // The quota of the tenant. 0: no limit. If all are 0, the entry gets the quota of the tenant's other
  // entries.
  double requests_per_s = 0, burst = 0, bytes_per_s = 0;
  int64_t concurrency = 0, queued_bytes = 0, weight = 0;
};

// Returns the token, which is stored nowhere else: the file gets its hash. Creates a missing file, which only
// its owner can read. Fails if the file or the new entry has errors. Then the file does not change, and a
// missing file is not created.
Result<std::string> AddToken(const TokenCommand& command);

}  // namespace tern::server
