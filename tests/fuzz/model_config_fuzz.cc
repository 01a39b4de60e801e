// Parses model configurations. The first byte selects the format: 'y' is config.yaml, 'j' is the JSON of a
// load request, and any other byte is config.pbtxt.
#include <cstdlib>
#include <string>
#include <string_view>

#include "entry.h"
#include "model_config.pb.h"
#include "server/repository/config.h"

using namespace tern;

namespace {

Status Parse(char kind, std::string_view text, server::ConfigMessage& out) {
  if (kind == 'y') return server::ParseConfigYaml(text, out);
  if (kind == 'j') return server::ParseConfigJson(text, out);
  return server::ParseConfigText(text, out);
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  server::ConfigMessage message, again;
  const Status parsed = Parse(static_cast<char>(bytes[0]), text, message);
  if (parsed.code() == Code::kInternal) std::abort();
  if (!parsed.ok()) return 0;
  server::SetDefaults(message);
  const Status checked = server::CheckConfig(message);
  if (checked.code() == Code::kInternal) std::abort();
  if (!checked.ok()) return 0;
  const auto config = server::ConvertConfig(message, "");
  if (config.status().code() == Code::kInternal) std::abort();
  // The JSON and the protobuf message that the server sends to clients must be parseable.
  if (config.ok() && !server::ParseConfigJson(config->json, again).ok()) std::abort();
  if (config.ok() && !again.ParseFromString(config->proto)) std::abort();
  return 0;
}
