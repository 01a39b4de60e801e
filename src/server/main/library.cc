// The entry point of libtern_server.so.
#include <cstdlib>

#include "server/http/json_reader.h"
#include "server/main/entry.h"
#include "server/main/serve.h"
#include "server/net/http_client.h"

namespace tern::server {
namespace {

Result<int> ServeEntry(const ServeCommand& command) {
  return Guard([&]() -> Result<int> {
    TERN_ASSIGN(ServeOptions options, ReadOptions(command.flags, [](const std::string& name) {
                  return std::getenv(name.c_str());
                }));
    return Serve(std::move(options), command);
  });
}

Result<LoadReport> LoadEntry(const LoadCommand& command) {
  return Guard([&] { return RunLoad(command); });
}

Result<std::string> AddTokenEntry(const TokenCommand& command) {
  return Guard([&] { return AddToken(command); });
}

Result<std::string> GetEntry(const std::string& url, const std::string& path, const std::string& token) {
  TERN_ASSIGN(Url place, ParseUrl(url, 8002));
  place.token = token;
  place.path = path;
  TERN_ASSIGN(const HttpAnswer answer, Fetch(place, "GET", "", "", std::chrono::seconds(10)));
  if (answer.status != 200) return IoError(url, path, " answers with status ", answer.status);
  return answer.body;
}

// Returns the text of {"error": "…"}, or the whole body if it is something else.
std::string ErrorText(const std::string& body) {
  std::string text;
  JsonReader json(body, 8);
  const Status status = json.Object([&](std::string_view key) {
    return key == "error" && json.Peek() == JsonReader::Kind::kString ? json.String(text) : json.Skip();
  });
  return status.ok() && !text.empty() ? text : body.substr(0, 200);
}

Result<std::string> CallEntry(const std::string& url, const std::string& path, const std::string& body,
                              const std::string& token) {
  TERN_ASSIGN(Url place, ParseUrl(url, 8000));
  place.token = token;
  place.path = path;
  TERN_ASSIGN(const HttpAnswer answer, Fetch(place, body.empty() ? "GET" : "POST", "application/json", body,
                                             std::chrono::seconds(120)));
  if (answer.status == 200) return answer.body;
  return IoError(url, " answers with status ", answer.status, ": ", ErrorText(answer.body));
}

Result<std::vector<RecordedPair>> RecordEntry(const RecordCommand& command) {
  return Guard([&] { return RecordRequests(command); });
}

}  // namespace
}  // namespace tern::server

extern "C" const tern::server::ServerLibrary* tern_server_3() {
  static constexpr tern::server::ServerLibrary library{TERN_VERSION,
                                                       TERN_BUILD,
                                                       &tern::server::ServeEntry,
                                                       &tern::server::LoadEntry,
                                                       &tern::server::GetEntry,
                                                       &tern::server::CallEntry,
                                                       &tern::server::AddTokenEntry,
                                                       &tern::server::RecordEntry};
  return &library;
}
