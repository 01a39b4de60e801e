// The parameters of a configuration that control how versions of the model come and go.
#pragma once
#include "server/repository/config.h"
#include "server/repository/repository.h"

namespace tern::server {

struct LifeCycle {
  ChangeOrder order = ChangeOrder::kLoadFirst;  // tern_change_order: load-first or unload-first
  bool made_up = true;                          // tern_warmup: auto (true) or none (false); see Prepare
  bool pinned = false;                          // tern_pinned: true or false
  std::chrono::milliseconds trial_limit{};      // limit on each warm-up and golden request
};

// Fails if a parameter has an unknown value. `options` has the defaults.
Result<LifeCycle> LifeCycleOf(const ConfigMessage& message, const RepositoryOptions& options);

}  // namespace tern::server
