#include "server/repository/read_config.h"

#include <filesystem>

#include "model_config.pb.h"
#include "server/backend/backends.h"

namespace tern::server {
namespace {

Status Parse(const ModelSource& source, const std::string& override_json, ConfigMessage& out) {
  if (!override_json.empty()) return ParseConfigJson(override_json, out);
  TERN_ASSIGN(const ConfigFile file, FindConfig(source));
  out.Clear();
  if (file.format == ConfigFile::Format::kText) return ParseConfigText(file.text, out);
  if (file.format == ConfigFile::Format::kYaml) return ParseConfigYaml(file.text, out);
  return {};
}

constexpr std::pair<const char*, const char*> kPlatforms[] = {{"onnxruntime_onnx", "onnxruntime"},
                                                              {"tensorflow_savedmodel", "tensorflow"},
                                                              {"tensorflow_graphdef", "tensorflow"},
                                                              {"pytorch_libtorch", "pytorch"},
                                                              {"tensorrt_plan", "tensorrt"}};

Status BackendOfPlatform(ConfigMessage& message) {
  for (const auto& [platform, backend] : kPlatforms)
    if (message.platform() == platform) message.set_backend(backend);
  if (!message.backend().empty()) return {};
  return InvalidArgument("platform '", message.platform(), "' is unknown; set backend");
}

// Sets the back end by the type of the model file, for a configuration that names no back end.
Status BackendOfFile(const ModelSource& source, ConfigMessage& message) {
  const std::vector<std::string> versions = ListVersions(source, true);
  if (versions.empty()) return {};  // Load reports this error later
  TERN_ASSIGN(const ModelFiles files,
              FindFiles(source, versions.back(), message.default_model_filename(), true));
  const std::filesystem::path file(files.file);
  const bool onnx = file.extension() == ".onnx";
  message.set_backend(onnx ? "onnxruntime" : "tern");
  if (source.file.empty() && message.default_model_filename().empty() && files.file != files.folder)
    message.set_default_model_filename(file.filename());
  return {};
}

Status SetBackend(const ModelSource& source, ConfigMessage& message) {
  if (message.has_ensemble_scheduling() && message.platform().empty()) message.set_platform("ensemble");
  if (message.platform() == "ensemble") return {};
  if (message.backend().empty() && !message.platform().empty()) TERN_TRY(BackendOfPlatform(message));
  if (message.backend().empty()) TERN_TRY(BackendOfFile(source, message));
  if (message.backend() == "onnxruntime" && message.platform().empty())
    message.set_platform("onnxruntime_onnx");
  return {};
}

Status SetName(const ModelSource& source, ConfigMessage& message) {
  if (!message.name().empty() && message.name() != source.name && !source.flat)
    return InvalidArgument("the configuration names the model '", message.name(), "', but its folder is '",
                           source.name, "'; the two must be equal");
  message.set_name(source.name);
  return {};
}

}  // namespace

Status ReadConfig(const ModelSource& source, const std::string& override_json, ConfigMessage& out) {
  TERN_TRY(Parse(source, override_json, out));
  TERN_TRY(SetName(source, out));
  TERN_TRY(SetBackend(source, out));
  SetDefaults(out);
  return CheckConfig(out, out.has_ensemble_scheduling());
}

}  // namespace tern::server
