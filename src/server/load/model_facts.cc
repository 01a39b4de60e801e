#include "server/load/model_facts.h"

#include <simdjson.h>

#include "server/load/proto_text.h"

namespace tern::server::loadgen {
namespace {

Result<TensorFacts> ParseTensor(simdjson::dom::element input) {
  TensorFacts t;
  std::string_view name, datatype;
  simdjson::dom::array shape;
  if (input["name"].get(name) || input["datatype"].get(datatype) || input["shape"].get(shape))
    return InvalidArgument("an input of the model's metadata lacks name, datatype or shape");
  t.name = name;
  t.datatype = datatype;
  for (const auto& dim : shape) {
    int64_t size = 0;
    if (dim.get(size)) return InvalidArgument("input '", name, "' has a dim that is not an integer");
    t.shape.push_back(size);
  }
  return t;
}

Result<TensorFacts> ParseTensor(std::string_view message) {
  TensorFacts t;
  ProtoReader r(message);
  while (r.Next()) {
    if (r.field() == 1) t.name = r.bytes();
    if (r.field() == 2) t.datatype = r.bytes();
    if (r.field() == 3 && !r.is_bytes()) t.shape.push_back(static_cast<int64_t>(r.number()));
    if (r.field() != 3 || !r.is_bytes()) continue;
    std::string_view packed = r.bytes();
    uint64_t size = 0;
    while (!packed.empty() && ProtoReader::TakeVarint(packed, size))
      t.shape.push_back(static_cast<int64_t>(size));
  }
  if (!r.ok()) return InvalidArgument("the model's metadata is damaged");
  return t;
}

}  // namespace

Result<ModelFacts> ParseJsonMetadata(const std::string& json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::array inputs;
  // A model with a pipeline has two lists. The requests have tensors.
  if (parser.parse(json).get(root) || (root["tensor_inputs"].get(inputs) && root["inputs"].get(inputs)))
    return InvalidArgument("the model's metadata has no list of inputs");
  ModelFacts facts;
  for (const auto& input : inputs) {
    TERN_ASSIGN(TensorFacts tensor, ParseTensor(input));
    facts.inputs.push_back(std::move(tensor));
  }
  return facts;
}

Result<ModelFacts> ParseProtoMetadata(std::string_view message) {
  ModelFacts facts, tensors;  // `tensors` are the tensor_inputs of a model with a pipeline
  ProtoReader r(message);
  while (r.Next()) {
    if (r.field() != 4 && r.field() != 101) continue;
    TERN_ASSIGN(TensorFacts tensor, ParseTensor(r.bytes()));
    (r.field() == 4 ? facts : tensors).inputs.push_back(std::move(tensor));
  }
  if (!r.ok()) return InvalidArgument("the model's metadata is damaged");
  return tensors.inputs.empty() ? facts : tensors;
}

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if ((u >= '0' && u <= '9') || ((u | 32) >= 'a' && (u | 32) <= 'z') || c == '-' || c == '_' || c == '.' ||
        c == '~')
      out += c;
    else
      (((out += '%') += "0123456789ABCDEF"[u >> 4]) += "0123456789ABCDEF"[u & 15]);
  }
  return out;
}

RequestBytes GrpcRequest(const char* method, std::string_view message) {
  RequestBytes request;
  request.path = StrCat("/inference.GRPCInferenceService/", method);
  request.bytes = std::string(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8)
    request.bytes += static_cast<char>(message.size() >> shift & 255);
  request.bytes += message;
  return request;
}

RequestBytes HttpRequest(const Url& url, std::string_view method, const std::string& path,
                         std::string_view headers, std::string_view body) {
  RequestBytes request;
  request.path = path;
  request.bytes = StrCat(method, " ", path, " HTTP/1.1\r\nHost: ", url.host, ":", url.port, "\r\n",
                         AuthorizationLine(url), headers);
  if (method != "GET") request.bytes += StrCat("Content-Length: ", body.size(), "\r\n");
  request.bytes += "\r\n";
  request.bytes += body;
  return request;
}

Result<ModelFacts> ReadModelFacts(const Url& url, const LoadCommand& command) {
  if (command.grpc) {
    std::string message;
    AppendField(1, command.model, message);
    if (!command.version.empty()) AppendField(2, command.version, message);
    TERN_ASSIGN(const Answer answer,
                CallOnce(url, true, GrpcRequest("ModelMetadata", message), command.timeout_seconds));
    if (!answer.ok) return IoError("cannot read the metadata of '", command.model, "': ", answer.message);
    return ParseProtoMetadata(answer.body);
  }
  std::string path = StrCat(url.path == "/" ? "" : url.path, "/v2/models/", PercentEncode(command.model));
  if (!command.version.empty()) path += StrCat("/versions/", PercentEncode(command.version));
  TERN_ASSIGN(const Answer answer,
              CallOnce(url, false, HttpRequest(url, "GET", path, "", ""), command.timeout_seconds));
  if (!answer.ok) return IoError("cannot read the metadata of '", command.model, "': ", answer.message);
  return ParseJsonMetadata(answer.body);
}

}  // namespace tern::server::loadgen
