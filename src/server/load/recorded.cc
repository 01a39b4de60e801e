#include "server/load/recorded.h"

#include <simdjson.h>

#include "data/file.h"
#include "server/load/model_facts.h"

namespace tern::server::loadgen {
namespace {

// Returns the body of a request, or an empty text if the line is for another model.
Result<std::string> BodyOf(const std::string& line, const std::string& model) {
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(line).get(object) != simdjson::SUCCESS) return InvalidArgument("is not a JSON object");
  std::string_view name;
  if (object["model"].get(name) == simdjson::SUCCESS && name != model) return std::string();
  simdjson::dom::element request;
  simdjson::dom::array inputs;
  if (object["request"].get(request) == simdjson::SUCCESS) {
    if (request["inputs"].get(inputs) == simdjson::SUCCESS) return simdjson::minify(request);
  } else if (object["inputs"].get(inputs) == simdjson::SUCCESS) {
    return simdjson::minify(object);
  }
  return InvalidArgument("has no inputs");
}

}  // namespace

Result<std::vector<RequestBytes>> ReadRecorded(const Url& url, const LoadCommand& command) {
  TERN_ASSIGN(const std::string text, data::ReadFile(command.recorded));
  std::string path = StrCat(url.path == "/" ? "" : url.path, "/v2/models/", PercentEncode(command.model));
  if (!command.version.empty()) path += StrCat("/versions/", PercentEncode(command.version));
  std::vector<RequestBytes> requests;
  size_t number = 0;
  for (const std::string& line : SplitText(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto body = BodyOf(line, command.model);
    if (!body.ok())
      return InvalidArgument("'", command.recorded, "': line ", number, " ", body.status().message());
    if (!body->empty()) requests.push_back(HttpRequest(url, "POST", path + "/infer", "", *body));
  }
  if (requests.empty())
    return InvalidArgument("'", command.recorded, "' has no request for model '", command.model, "'");
  return requests;
}

}  // namespace tern::server::loadgen
