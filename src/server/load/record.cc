#include "server/load/record.h"

#include "server/load/payload.h"

namespace tern::server {
namespace {

using namespace loadgen;  // NOLINT: this file belongs to the load generator

Result<std::vector<std::string>> MakeUp(const Url& url, const RecordCommand& command) {
  LoadCommand target = command.target;
  target.json = true;
  TERN_ASSIGN(const ModelFacts facts, ReadModelFacts(url, target));
  std::vector<std::string> bodies;
  for (int i = 0; i < command.count; ++i) {
    target.seed = command.target.seed + static_cast<uint64_t>(i);
    TERN_ASSIGN(const std::vector<InputTensor> inputs, MakeInputs(facts, target));
    const RequestBytes request = InferRequest(url, target, inputs, nullptr);
    bodies.push_back(request.bytes.substr(request.bytes.find("\r\n\r\n") + 4));
  }
  return bodies;
}

}  // namespace

Result<std::vector<RecordedPair>> RecordRequests(const RecordCommand& command) {
  const LoadCommand& target = command.target;
  TERN_ASSIGN(Url url, ParseUrl(target.url, 8000));
  url.token = target.token;
  std::vector<std::string> bodies = command.requests;
  if (bodies.empty()) {
    TERN_ASSIGN(bodies, MakeUp(url, command));
  }
  std::string path = StrCat(url.path == "/" ? "" : url.path, "/v2/models/", PercentEncode(target.model));
  if (!target.version.empty()) path += StrCat("/versions/", PercentEncode(target.version));
  std::vector<RecordedPair> out;
  for (size_t i = 0; i < bodies.size(); ++i) {
    const RequestBytes request =
        HttpRequest(url, "POST", path + "/infer", "Content-Type: application/json\r\n", bodies[i]);
    TERN_ASSIGN(Answer answer, CallOnce(url, false, request, target.timeout_seconds));
    if (!answer.ok)
      return InvalidArgument("request ", i + 1, " of ", bodies.size(),
                             ": the server answers: ", answer.message);
    out.push_back({std::move(bodies[i]), std::move(answer.body)});
  }
  return out;
}

}  // namespace tern::server
