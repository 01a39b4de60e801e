// Reads the body of POST /v1/embeddings.
#include "server/dialects/openai/request_reader.h"

namespace tern::server {
namespace {

Status ReadMember(RequestReader& reader, std::string_view key, EmbeddingRequest& request) {
  if (reader.TakeNull()) return {};
  if (key == "model") return reader.Text(request.model);
  if (key == "input") {
    if (reader.Peek() == JsonReader::Kind::kString) return reader.Text(request.inputs.emplace_back().text);
    return reader.PromptList(kMaxEmbeddings, request.inputs);
  }
  if (key == "encoding_format") {
    std::string format;
    TERN_TRY(reader.Text(format));
    request.base64 = format == "base64";
    return request.base64 || format == "float" ? Status() : reader.Must("'float' or 'base64'");
  }
  TemplateValue other;
  TERN_TRY(reader.Any(other));
  if (key == "user") return {};
  if (key == "dimensions") return Unsupported("'dimensions' is not supported: the model has one size");
  return InvalidArgument("Unrecognized request argument supplied: ", key);
}

}  // namespace

RequestFault ReadEmbeddingRequest(std::string_view body, int depth, EmbeddingRequest& request) {
  RequestReader reader(body, depth);
  Status status = reader.Object([&](std::string_view key) { return ReadMember(reader, key, request); });
  if (status.ok() && request.model.empty()) {
    reader.SetMember("model");
    status = InvalidArgument("you must provide a model parameter");
  }
  if (status.ok() && request.inputs.empty()) {
    reader.SetMember("input");
    status = InvalidArgument("you must provide an input parameter");
  }
  return {status, status.ok() ? std::string() : reader.member()};
}

}  // namespace tern::server
