// Handlers for the repository, shared memory and settings.
#include "inference.pb.h"
#include "server/grpc/handlers.h"

namespace tern::server {
namespace {

// KServe's clients send the model's name in field 1. In other clients, field 1 is the repository's name.
template <class Message> Result<std::string> ModelOf(const Message& message) {
  if (message.model_name().empty() && message.repository_name().empty())
    return InvalidArgument("the request names no model");
  if (message.model_name().empty()) return std::string(message.repository_name());
  if (!message.repository_name().empty())
    return Unsupported("'repository_name' specification is not supported");
  return std::string(message.model_name());
}

Status NoRepository() { return Unavailable("this server has no model repository"); }

Result<LoadOptions> ReadLoadOptions(const inference::RepositoryModelLoadRequest& message) {
  constexpr std::string_view kFile = "file:";
  LoadOptions options;
  for (const auto& [name, value] : message.parameters()) {
    if (name == "config") {
      if (!value.has_string_param()) return InvalidArgument("parameter 'config': expected a string");
      options.config = value.string_param();
    } else if (std::string_view(name).starts_with(kFile)) {
      if (!value.has_bytes_param()) return InvalidArgument("parameter '", name, "': expected bytes");
      options.files[name.substr(kFile.size())] = value.bytes_param();
    } else {
      return InvalidArgument("unrecognized load parameter '", name, "'");
    }
  }
  return options;
}

Result<bool> ReadUnloadOptions(const inference::RepositoryModelUnloadRequest& message) {
  bool dependents = false;
  for (const auto& [name, value] : message.parameters()) {
    if (name != "unload_dependents") return InvalidArgument("unrecognized unload parameter '", name, "'");
    if (!value.has_bool_param()) return InvalidArgument("parameter 'unload_dependents': expected a boolean");
    dependents = value.bool_param();
  }
  return dependents;
}

Result<SharedMemoryControl*> SharedMemory(ServerContext& context) {
  if (!context.shared_memory) return Unsupported(kSharedMemoryOff);
  return context.shared_memory;
}

Result<SettingsControl*> SettingsOf(ServerContext& context) {
  if (!context.settings) return Unsupported("this server has no settings");
  return context.settings;
}

Result<std::map<std::string, ParameterValue>> ReadLogChanges(const inference::LogSettingsRequest& message) {
  std::map<std::string, ParameterValue> changes;
  for (const auto& [name, value] : message.settings()) {
    if (value.has_bool_param())
      changes[name] = value.bool_param();
    else if (value.has_uint32_param())
      changes[name] = static_cast<int64_t>(value.uint32_param());
    else if (value.has_string_param())
      changes[name] = value.string_param();
    else
      return InvalidArgument("log setting '", name, "' has no value");
  }
  return changes;
}

void FillLogValue(const ParameterValue& value, inference::LogSettingsResponse::SettingValue& out) {
  if (const bool* flag = std::get_if<bool>(&value)) out.set_bool_param(*flag);
  if (const int64_t* number = std::get_if<int64_t>(&value))
    out.set_uint32_param(static_cast<uint32_t>(*number));
  if (const double* number = std::get_if<double>(&value)) out.set_string_param(StrCat(*number));
  if (const std::string* text = std::get_if<std::string>(&value)) out.set_string_param(*text);
}

}  // namespace

Result<std::string> HandleRepositoryIndex(ServerContext& context, std::string_view request) {
  inference::RepositoryIndexRequest message;
  TERN_TRY(ParseMessage(request, message));
  if (!message.repository_name().empty())
    return Unsupported("'repository_name' specification is not supported");
  if (!context.repository) return NoRepository();
  inference::RepositoryIndexResponse response;
  for (IndexEntry& entry : context.repository->Index(message.ready())) {
    auto& model = *response.add_models();
    model.set_name(std::move(entry.name));
    model.set_version(std::move(entry.version));
    if (entry.state != ModelState::kUnknown || !entry.reason.empty()) model.set_state(StateName(entry.state));
    model.set_reason(std::move(entry.reason));
  }
  return response.SerializeAsString();
}

Result<std::string> HandleModelLoad(ServerContext& context, std::string_view request) {
  inference::RepositoryModelLoadRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(const std::string model, ModelOf(message));
  TERN_ASSIGN(const LoadOptions options, ReadLoadOptions(message));
  if (!context.repository) return NoRepository();
  TERN_TRY(context.repository->Load(model, options));
  inference::RepositoryModelLoadResponse response;
  response.set_model_name(model);
  response.set_is_loaded(true);
  return response.SerializeAsString();
}

Result<std::string> HandleModelUnload(ServerContext& context, std::string_view request) {
  inference::RepositoryModelUnloadRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(const std::string model, ModelOf(message));
  TERN_ASSIGN(const bool dependents, ReadUnloadOptions(message));
  if (!context.repository) return NoRepository();
  TERN_TRY(context.repository->Unload(model, dependents));
  inference::RepositoryModelUnloadResponse response;
  response.set_model_name(model);
  response.set_is_unloaded(true);
  return response.SerializeAsString();
}

Result<std::string> HandleSystemStatus(ServerContext& context, std::string_view request) {
  inference::SystemSharedMemoryStatusRequest message;
  TERN_TRY(ParseMessage(request, message));
  if (!context.shared_memory && message.name().empty()) return std::string();  // no regions
  TERN_ASSIGN(SharedMemoryControl* const memory, SharedMemory(context));
  TERN_ASSIGN(const auto regions, memory->List(message.name()));
  inference::SystemSharedMemoryStatusResponse response;
  for (const SharedMemoryRegion& region : regions) {
    auto& out = (*response.mutable_regions())[region.name];
    out.set_name(region.name);
    out.set_key(region.key);
    out.set_offset(region.offset);
    out.set_byte_size(region.bytes);
  }
  return response.SerializeAsString();
}

Result<std::string> HandleSystemRegister(ServerContext& context, std::string_view request) {
  inference::SystemSharedMemoryRegisterRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(SharedMemoryControl* const memory, SharedMemory(context));
  TERN_TRY(memory->Register(message.name(), message.key(), message.offset(), message.byte_size()));
  return std::string();
}

Result<std::string> HandleSystemUnregister(ServerContext& context, std::string_view request) {
  inference::SystemSharedMemoryUnregisterRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(SharedMemoryControl* const memory, SharedMemory(context));
  TERN_TRY(memory->Unregister(message.name()));
  return std::string();
}

// There are no CUDA regions. A request for the status of all regions and a request to unregister regions
// still succeed, because some clients unregister all regions at their start.
Result<std::string> HandleCudaStatus(ServerContext&, std::string_view request) {
  inference::CudaSharedMemoryStatusRequest message;
  TERN_TRY(ParseMessage(request, message));
  if (!message.name().empty())
    return NotFound("Unable to find cuda shared memory region: '", message.name(), "'");
  return std::string();
}

Result<std::string> HandleCudaRegister(ServerContext&, std::string_view) {
  return Unsupported("CUDA shared memory is not supported: this server runs models on the CPU");
}

Result<std::string> HandleCudaUnregister(ServerContext&, std::string_view request) {
  inference::CudaSharedMemoryUnregisterRequest message;
  TERN_TRY(ParseMessage(request, message));
  return std::string();
}

Result<std::string> HandleTraceSetting(ServerContext& context, std::string_view request) {
  inference::TraceSettingRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(SettingsControl* const settings, SettingsOf(context));
  Settings changes;
  for (const auto& [name, value] : message.settings())
    changes[name] = {value.value().begin(), value.value().end()};
  TERN_ASSIGN(const Settings now, changes.empty() ? settings->Trace(message.model_name())
                                                  : settings->SetTrace(message.model_name(), changes));
  inference::TraceSettingResponse response;
  for (const auto& [name, values] : now) {
    auto& out = (*response.mutable_settings())[name];
    for (const std::string& value : values) out.add_value(value);
  }
  return response.SerializeAsString();
}

Result<std::string> HandleLogSettings(ServerContext& context, std::string_view request) {
  inference::LogSettingsRequest message;
  TERN_TRY(ParseMessage(request, message));
  TERN_ASSIGN(SettingsControl* const settings, SettingsOf(context));
  TERN_ASSIGN(const auto changes, ReadLogChanges(message));
  if (!changes.empty()) TERN_TRY(settings->SetLog(changes));
  inference::LogSettingsResponse response;
  for (const auto& [name, value] : settings->Log()) FillLogValue(value, (*response.mutable_settings())[name]);
  return response.SerializeAsString();
}

}  // namespace tern::server
