// Handlers that report the state of the server and of its models.
#include "inference.pb.h"
#include "server/grpc/handlers.h"

namespace tern::server {
namespace {

void FillTensor(const TensorConfig& config, bool batched,
                inference::ModelMetadataResponse::TensorMetadata& tensor) {
  tensor.set_name(config.name);
  tensor.set_datatype(WireName(config.dtype));
  if (batched) tensor.add_shape(-1);
  for (const int64_t dim : config.dims) tensor.add_shape(dim);
}

void Fill(const Duration& duration, inference::StatisticDuration* out) {
  out->set_count(duration.count);
  out->set_ns(duration.ns);
}

void FillInference(const StatisticsSnapshot& snapshot, inference::InferStatistics& out) {
  Fill(snapshot.success, out.mutable_success());
  Fill(snapshot.fail, out.mutable_fail());
  Fill(snapshot.queue, out.mutable_queue());
  Fill(snapshot.compute_input, out.mutable_compute_input());
  Fill(snapshot.compute_infer, out.mutable_compute_infer());
  Fill(snapshot.compute_output, out.mutable_compute_output());
  Fill({}, out.mutable_cache_hit());
  Fill({}, out.mutable_cache_miss());
}

void FillBatch(int size, const BatchStatistics& batch, inference::InferBatchStatistics& out) {
  out.set_batch_size(static_cast<uint64_t>(size));
  Fill(batch.input, out.mutable_compute_input());
  Fill(batch.compute, out.mutable_compute_infer());
  Fill(batch.output, out.mutable_compute_output());
}

void FillStatistics(ModelVersion& model, inference::ModelStatistics& out) {
  const StatisticsSnapshot snapshot = model.statistics().Snapshot();
  out.set_name(model.config().name);
  out.set_version(model.version());
  out.set_last_inference(snapshot.last_inference_ms);
  out.set_inference_count(snapshot.inference_count);
  out.set_execution_count(snapshot.execution_count);
  FillInference(snapshot, *out.mutable_inference_stats());
  for (const auto& [size, batch] : snapshot.batches) FillBatch(size, batch, *out.add_batch_stats());
  inference::MemoryUsage& memory = *out.add_memory_usage();
  memory.set_type("CPU");
  memory.set_byte_size(model.MemoryBytes());
}

}  // namespace

Result<std::string> HandleServerLive(ServerContext&, std::string_view) {
  inference::ServerLiveResponse response;
  response.set_live(true);
  return response.SerializeAsString();
}

Result<std::string> HandleServerReady(ServerContext& context, std::string_view) {
  inference::ServerReadyResponse response;
  response.set_ready(context.ready && !context.draining);
  return response.SerializeAsString();
}

Result<std::string> HandleServerMetadata(ServerContext& context, std::string_view) {
  inference::ServerMetadataResponse response;
  response.set_name(context.name);
  response.set_version(context.version);
  for (const char* extension : kExtensions) response.add_extensions(extension);
  return response.SerializeAsString();
}

Result<std::string> HandleModelReady(ServerContext& context, std::string_view request) {
  inference::ModelReadyRequest message;
  TERN_TRY(ParseMessage(request, message));
  inference::ModelReadyResponse response;
  const auto model = context.models->Find(message.name(), message.version());
  response.set_ready(model.ok() && (*model)->Ready());
  return response.SerializeAsString();
}

Result<std::string> HandleModelMetadata(ServerContext& context, std::string_view request) {
  inference::ModelMetadataRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(const auto model, context.models->Find(message.name(), message.version()));
  const ModelConfig& config = model->config();
  const bool batched = config.max_batch_size > 0;
  inference::ModelMetadataResponse response;
  response.set_name(config.name);
  response.set_platform(config.platform.empty() ? config.backend : config.platform);
  for (const auto& version : context.models->Versions(message.name()))
    response.add_versions(version->version());
  for (const TensorConfig& tensor : config.inputs) FillTensor(tensor, batched, *response.add_inputs());
  for (const TensorConfig& tensor : config.outputs) FillTensor(tensor, batched, *response.add_outputs());
  for (const TensorConfig& tensor : config.tensor_inputs)
    FillTensor(tensor, false, *response.add_tensor_inputs());
  for (const TensorConfig& tensor : config.tensor_outputs)
    FillTensor(tensor, false, *response.add_tensor_outputs());
  return response.SerializeAsString();
}

Result<std::string> HandleModelConfig(ServerContext& context, std::string_view request) {
  inference::ModelConfigRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(const auto model, context.models->Find(message.name(), message.version()));
  inference::ModelConfigResponse response;
  response.set_config(model->config().proto);
  return response.SerializeAsString();
}

Result<std::string> HandleModelStatistics(ServerContext& context, std::string_view request) {
  inference::ModelStatisticsRequest message;
  TERN_TRY(ParseMessage(request, message));
  std::vector<std::shared_ptr<ModelVersion>> models;
  if (message.name().empty()) {
    models = context.models->All();
  } else {
    TERN_ASSIGN(auto model, context.models->Find(message.name(), message.version()));
    models = context.models->Versions(message.name());
    if (!message.version().empty()) models = {std::move(model)};
  }
  inference::ModelStatisticsResponse response;
  for (const auto& model : models) FillStatistics(*model, *response.add_model_stats());
  return response.SerializeAsString();
}

}  // namespace tern::server
