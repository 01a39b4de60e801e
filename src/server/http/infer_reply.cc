#include "server/http/infer_reply.h"

#include "server/http/json_writer.h"

namespace tern::server {
namespace {

const OutputFormat* FormatOf(const Request& request, const InferFormat& format, std::string_view name) {
  for (size_t i = 0; i < request.outputs.size() && i < format.outputs.size(); ++i)
    if (request.outputs[i].name == name) return &format.outputs[i];
  return nullptr;
}

Status AppendOutput(const WireTensor& output, const OutputFormat* format, bool default_binary,
                    HttpReply& reply) {
  std::string& out = reply.body;
  out += "{\"name\":";
  AppendJson(out, output.name);
  out += ",\"datatype\":\"";
  out += WireName(output.dtype);
  out += "\",\"shape\":";
  AppendJsonDims(out, output.dims);
  // An output in shared memory has no parameters, because Triton's C++ client requires binary_data_size in
  // them.
  if (format && format->shared) {
    out += '}';
    return {};
  }
  if (format ? format->binary : default_binary) {
    out += ",\"parameters\":{\"binary_data_size\":";
    AppendJsonNumber(out, uint64_t{output.bytes.size()});
    out += '}';
    if (output.bytes.size()) reply.tail.push_back(output.bytes);
  } else {
    out += ",\"data\":[";
    TERN_TRY(AppendJsonElements(out, output, BadText::kRefuse));
    out += ']';
  }
  out += '}';
  return {};
}

void AppendHeader(std::string& out, const ModelVersion& version, const Request& request,
                  const Response& response) {
  out += '{';
  if (!request.id.empty()) {
    out += "\"id\":";
    AppendJson(out, request.id);
    out += ',';
  }
  out += "\"model_name\":";
  AppendJson(out, version.config().name);
  out += ",\"model_version\":";
  AppendJson(out, version.version());
  if (!response.parameters.empty()) {
    out += ",\"parameters\":{";
    for (const auto& [name, value] : response.parameters) {
      AppendJsonKey(out, name);
      AppendJsonParameter(out, value);
    }
    out += '}';
  }
  out += ",\"outputs\":[";
}

}  // namespace

bool IsBinary(const Request& request, const InferFormat& format, std::string_view output) {
  const OutputFormat* found = FormatOf(request, format, output);
  return found ? found->binary : format.default_binary;
}

HttpReply MakeInferReply(const ModelVersion& version, const Request& request, const InferFormat& format,
                         Response& response) {
  if (!response.status.ok()) return ErrorReply(response.status, response.retry_after);
  HttpReply reply;
  reply.compress = true;
  if (!response.text.empty()) {
    reply.body = std::move(response.text);
    return reply;
  }
  reply.body.reserve(512);
  AppendHeader(reply.body, version, request, response);
  for (size_t i = 0; i < response.outputs.size(); ++i) {
    const WireTensor& output = response.outputs[i];
    if (i) reply.body += ',';
    const Status status =
        AppendOutput(output, FormatOf(request, format, output.name), format.default_binary, reply);
    if (!status.ok()) return ErrorReply(status);
  }
  reply.body += "]}";
  if (!reply.tail.empty()) {
    reply.infer_header = reply.body.size();
    reply.type = "application/octet-stream";
  }
  return reply;
}

}  // namespace tern::server
