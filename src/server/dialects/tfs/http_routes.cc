#include "server/dialects/tfs/http_routes.h"

#include <chrono>

#include "server/dialects/tfs/data_types.h"
#include "server/dialects/tfs/metadata.h"
#include "server/dialects/tfs/status.h"
#include "server/generate/generator.h"
#include "server/http/json_writer.h"

namespace tern::server::tfs {
namespace {

void AppendStatus(std::string& out, const VersionStatus& status) {
  out += "{\"version\":";
  AppendJson(out, status.version);
  out += ",\"state\":\"";
  out += StateText(status.state);
  out += "\",\"status\":{\"error_code\":\"";
  out += status.error.empty() ? "OK" : "UNKNOWN";
  out += "\",\"error_message\":";
  AppendJson(out, status.error);
  out += "}}";
}

// Returns the time at which the model was loaded, if the model knows it. Otherwise returns the time of the
// first call of this function, because OpenAI's clients require a number.
int64_t Created(const Registry& models, const std::string& model) {
  static const auto first = std::chrono::system_clock::now();
  const auto found = models.Find(model);
  const TextGenerator* generator = found.ok() ? (*found)->generator() : nullptr;
  return generator ? generator->info().created
                   : std::chrono::duration_cast<std::chrono::seconds>(first.time_since_epoch()).count();
}

Result<HttpReply> ModelStatus(ServerContext& context, const ModelSpec& spec) {
  TERN_ASSIGN(const auto versions, ListStatus(context, spec));
  std::string out = "{\"model_version_status\":[";
  for (const VersionStatus& status : versions) {
    if (out.back() != '[') out += ',';
    AppendStatus(out, status);
  }
  out += ']';
  AppendJsonKey(out, "id");
  AppendJson(out, spec.model);
  out += ",\"object\":\"model\"";
  AppendJsonKey(out, "created");
  AppendJsonNumber(out, Created(*context.models, spec.model));
  return JsonReply(out + ",\"owned_by\":\"tern\"}");
}

void AppendTensors(std::string& out, const char* key, const std::vector<SignatureTensor>& tensors) {
  AppendJsonKey(out, key);
  out += '{';
  for (const SignatureTensor& tensor : tensors) {
    AppendJsonKey(out, tensor.name);
    out += "{\"dtype\":";
    AppendJson(out, NumberName(tensor.type));
    out += ",\"tensor_shape\":{\"dim\":[";
    for (const int64_t dim : tensor.dims) {
      if (out.back() != '[') out += ',';
      out += StrCat("{\"size\":\"", dim, "\",\"name\":\"\"}");
    }
    out += tensor.ranked ? "],\"unknown_rank\":false},\"name\":" : "],\"unknown_rank\":true},\"name\":";
    AppendJson(out, tensor.tensor);
    out += '}';
  }
  out += '}';
}

Result<HttpReply> Metadata(ServerContext& context, const ModelSpec& spec) {
  TERN_ASSIGN(const auto version, FindVersion(*context.models, spec));
  std::string out = "{\"model_spec\":{\"name\":";
  AppendJson(out, spec.model);
  out += ",\"signature_name\":\"\",\"version\":";
  AppendJson(out, version->version());
  out += "},\"metadata\":{\"signature_def\":{\"signature_def\":{";
  for (const Signature& signature : DescribeSignatures(*version)) {
    AppendJsonKey(out, signature.name);
    out += '{';
    AppendTensors(out, "inputs", signature.inputs);
    AppendTensors(out, "outputs", signature.outputs);
    AppendJsonKey(out, "method_name");
    AppendJson(out, signature.method);
    out += '}';
  }
  return JsonReply(out + "}}}}");
}

}  // namespace

HttpReply HandleRoute(ServerContext& context, const Route& route) {
  const ModelSpec spec{route.model, route.version, route.label, {}};
  auto reply = route.kind == RouteKind::kTfsStatus ? ModelStatus(context, spec) : Metadata(context, spec);
  return reply.ok() ? std::move(*reply) : ErrorReply(reply.status());
}

}  // namespace tern::server::tfs
