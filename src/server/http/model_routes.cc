// Routes for the metadata, readiness, configuration and statistics of models.
#include "server/http/control_routes.h"
#include "server/http/json_writer.h"

namespace tern::server {
namespace {

void AppendTensors(std::string& out, const char* key, const std::vector<TensorConfig>& tensors, bool batch) {
  AppendJsonKey(out, key);
  out += '[';
  for (const TensorConfig& tensor : tensors) {
    if (out.back() != '[') out += ',';
    out += "{\"name\":";
    AppendJson(out, tensor.name);
    out += ",\"datatype\":";
    AppendJson(out, std::string_view(WireName(tensor.dtype)));
    Dims dims = tensor.dims;
    if (batch) dims.insert(dims.begin(), -1);
    out += ",\"shape\":";
    AppendJsonDims(out, dims);
    out += '}';
  }
  out += ']';
}

HttpReply Metadata(ServerContext& context, const Route& route, const ModelVersion& version) {
  const ModelConfig& config = version.config();
  std::string out = "{\"name\":";
  AppendJson(out, config.name);
  out += ",\"versions\":[";
  if (!route.version.empty())
    AppendJson(out, version.version());
  else
    for (const auto& other : context.models->Versions(route.model)) {
      if (out.back() != '[') out += ',';
      AppendJson(out, other->version());
    }
  out += "],\"platform\":";
  AppendJson(out, config.platform.empty() ? config.backend : config.platform);
  AppendTensors(out, "inputs", config.inputs, config.max_batch_size > 0);
  AppendTensors(out, "outputs", config.outputs, config.max_batch_size > 0);
  if (!config.tensor_inputs.empty()) {
    AppendTensors(out, "tensor_inputs", config.tensor_inputs, false);
    AppendTensors(out, "tensor_outputs", config.tensor_outputs, false);
  }
  return JsonReply(out + "}");
}

HttpReply ModelReady(const Route& route, const ModelVersion& version) {
  if (!version.Ready())
    return ErrorReply(Unavailable("model '", route.model, "' is not ready: its process is being restarted"));
  std::string out = "{\"name\":";
  AppendJson(out, route.model);
  return JsonReply(out + ",\"ready\":true}");
}

void AppendDuration(std::string& out, const char* key, const Duration& duration) {
  AppendJsonKey(out, key);
  out += "{\"count\":";
  AppendJsonNumber(out, duration.count);
  out += ",\"ns\":";
  AppendJsonNumber(out, duration.ns);
  out += '}';
}

void AppendBatches(std::string& out, const StatisticsSnapshot& s) {
  AppendJsonKey(out, "batch_stats");
  out += '[';
  for (const auto& [size, batch] : s.batches) {
    if (out.back() != '[') out += ',';
    out += "{\"batch_size\":";
    AppendJsonNumber(out, int64_t{size});
    AppendDuration(out, "compute_input", batch.input);
    AppendDuration(out, "compute_infer", batch.compute);
    AppendDuration(out, "compute_output", batch.output);
    out += '}';
  }
  out += ']';
}

void AppendStatistics(std::string& out, ModelVersion& version) {
  const StatisticsSnapshot s = version.statistics().Snapshot();
  out += "{\"name\":";
  AppendJson(out, version.config().name);
  out += ",\"version\":";
  AppendJson(out, version.version());
  out += ",\"last_inference\":";
  AppendJsonNumber(out, s.last_inference_ms);
  out += ",\"inference_count\":";
  AppendJsonNumber(out, s.inference_count);
  out += ",\"execution_count\":";
  AppendJsonNumber(out, s.execution_count);
  out += ",\"inference_stats\":{";
  AppendDuration(out, "success", s.success);
  AppendDuration(out, "fail", s.fail);
  AppendDuration(out, "queue", s.queue);
  AppendDuration(out, "compute_input", s.compute_input);
  AppendDuration(out, "compute_infer", s.compute_infer);
  AppendDuration(out, "compute_output", s.compute_output);
  AppendDuration(out, "cache_hit", {});
  AppendDuration(out, "cache_miss", {});
  out += "},\"response_stats\":{}";
  AppendBatches(out, s);
  out += ",\"memory_usage\":[{\"type\":\"CPU\",\"id\":0,\"byte_size\":";
  AppendJsonNumber(out, uint64_t{version.MemoryBytes()});
  out += "}]}";
}

HttpReply Statistics(const std::vector<std::shared_ptr<ModelVersion>>& versions) {
  std::string out = "{\"model_stats\":[";
  for (const auto& version : versions) {
    if (out.back() != '[') out += ',';
    AppendStatistics(out, *version);
  }
  return JsonReply(out + "]}");
}

}  // namespace

HttpReply HandleModelRoute(ServerContext& context, const Route& route) {
  if (route.kind == RouteKind::kModelStats && route.model.empty()) return Statistics(context.models->All());
  auto found = context.models->Find(route.model, route.version);
  if (!found.ok()) return ErrorReply(found.status());
  ModelVersion& version = **found;
  if (route.kind == RouteKind::kModelReady) return ModelReady(route, version);
  if (route.kind == RouteKind::kModelConfig) return JsonReply(version.config().json);
  if (route.kind == RouteKind::kModelMetadata) return Metadata(context, route, version);
  return Statistics(route.version.empty() ? context.models->Versions(route.model)
                                          : std::vector<std::shared_ptr<ModelVersion>>{*found});
}

}  // namespace tern::server
