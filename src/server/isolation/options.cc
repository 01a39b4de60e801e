#include "server/isolation/options.h"

namespace tern::server {
namespace {

const std::string* Find(const ModelConfig& config, const char* name) {
  const auto found = config.parameters.find(name);
  return found == config.parameters.end() ? nullptr : &found->second;
}

Status ReadNumber(const ModelConfig& config, const char* name, uint64_t scale, bool sandbox, uint64_t& out) {
  const std::string* text = Find(config, name);
  if (!text) return {};
  int64_t number = 0;
  if (!ParseInt(*text, number) || number < 1 || number > 1'000'000'000)
    return InvalidArgument("parameter ", name, " is '", *text, "'; it must be from 1 to 1000000000");
  if (!sandbox) return InvalidArgument("parameter ", name, " needs the parameter sandbox: true");
  out = static_cast<uint64_t>(number) * scale;
  return {};
}

}  // namespace

Result<Isolation> IsolationOf(const ModelConfig& config, const IsolationDefaults& defaults) {
  Isolation out{defaults.process || defaults.sandbox, defaults.sandbox, {}};
  const std::string* sandbox = Find(config, "sandbox");
  if (sandbox && *sandbox != "true" && *sandbox != "false")
    return InvalidArgument("parameter sandbox is '", *sandbox, "'; it must be true or false");
  if (sandbox && *sandbox == "false" && defaults.sandbox)
    return InvalidArgument("parameter sandbox is false, but the server runs every model in a sandbox");
  if (sandbox) out.sandbox = *sandbox == "true";
  out.process |= out.sandbox;
  if (const std::string* isolation = Find(config, "isolation")) {
    if (*isolation != "process" && *isolation != "none")
      return InvalidArgument("parameter isolation is '", *isolation, "'; it must be process or none");
    if (*isolation == "none" && out.sandbox)
      return InvalidArgument("parameter isolation is none, but a sandbox needs a process");
    out.process = *isolation == "process";
  }
  TERN_TRY(ReadNumber(config, "sandbox_memory_mb", uint64_t{1} << 20, out.sandbox, out.limits.memory_bytes));
  TERN_TRY(ReadNumber(config, "sandbox_cpu_secs", 1, out.sandbox, out.limits.cpu_secs));
  TERN_TRY(ReadNumber(config, "sandbox_open_files", 1, out.sandbox, out.limits.open_files));
  return out;
}

}  // namespace tern::server
