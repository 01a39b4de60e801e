#include "server/repository/life_cycle.h"

#include <algorithm>

#include "model_config.pb.h"

namespace tern::server {
namespace {

// Sets `out` to whether the parameter is `yes`. Leaves it if the configuration lacks the parameter.
Status ReadChoice(const ConfigMessage& message, const char* name, const char* yes, const char* no,
                  bool& out) {
  const auto found = message.parameters().find(name);
  if (found == message.parameters().end()) return {};
  const std::string& value = found->second.string_value();
  if (value != yes && value != no)
    return InvalidArgument("parameter ", name, " is '", value, "'; it must be ", yes, " or ", no);
  out = value == yes;
  return {};
}

}  // namespace

Result<LifeCycle> LifeCycleOf(const ConfigMessage& message, const RepositoryOptions& options) {
  LifeCycle out;
  out.trial_limit = options.trial_limit;
  const auto& pinned = options.pinned;
  out.pinned = std::find(pinned.begin(), pinned.end(), message.name()) != pinned.end();
  bool unload_first = options.order == ChangeOrder::kUnloadFirst;
  TERN_TRY(ReadChoice(message, "tern_change_order", "unload-first", "load-first", unload_first));
  TERN_TRY(ReadChoice(message, "tern_warmup", "auto", "none", out.made_up));
  TERN_TRY(ReadChoice(message, "tern_pinned", "true", "false", out.pinned));
  out.order = unload_first ? ChangeOrder::kUnloadFirst : ChangeOrder::kLoadFirst;
  return out;
}

}  // namespace tern::server
