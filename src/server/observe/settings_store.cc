#include "server/observe/settings_store.h"

#include <limits>

#include "server/core/log.h"

namespace tern::server {
namespace {

constexpr const char* kNumbers[] = {"trace_rate", "trace_count", "log_frequency"};

Status CheckLevel(const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    if (value != "OFF" && value != "TIMESTAMPS" && value != "TENSORS")
      return InvalidArgument("Unable to parse 'trace_level', got: ", value);
    if (value == "OFF" && values.size() > 1)
      return InvalidArgument("Expect only one trace level 'OFF' is specified");
  }
  return {};
}

// The messages are Triton's, because clients match them.
Status CheckNumber(const std::string& name, const std::vector<std::string>& values) {
  const int64_t lowest = name == "trace_count" ? -1 : 0;
  const int64_t highest =
      name == "trace_count" ? std::numeric_limits<int32_t>::max() : std::numeric_limits<uint32_t>::max();
  int64_t number = 0;
  const std::string text = values.size() == 1 ? values[0] : Join(values, ",");
  if (values.size() != 1 || !ParseInt(text, number))
    return InvalidArgument("Unable to parse '", name, "', got: ", text);
  if (number < lowest || number > highest)
    return InvalidArgument("Unable to parse '", name, "', value is out of range [ ", lowest, ", ", highest,
                           " ], got: ", text);
  return {};
}

// An empty list of values clears a setting.
Status CheckTrace(const std::string& name, const std::vector<std::string>& values) {
  if (name == "trace_file")
    return Unsupported("trace file location can not be updated through network protocol");
  if (name == "trace_mode") return Unsupported("trace mode can not be updated through network protocol");
  if (values.empty() && name == "trace_level") return {};
  if (name == "trace_level") return CheckLevel(values);
  for (const char* number : kNumbers)
    if (name == number) return values.empty() ? Status() : CheckNumber(name, values);
  return InvalidArgument("unknown trace setting '", name, "'");
}

Settings StartSettings(const TraceStart& trace) {
  return {{"trace_file", {trace.file}},
          {"trace_level", trace.level},
          {"trace_rate", {StrCat(trace.rate)}},
          {"trace_count", {StrCat(trace.count)}},
          {"log_frequency", {StrCat(trace.log_frequency)}},
          {"trace_mode", {trace.mode}}};
}

int64_t NumberOf(const Settings& settings, const char* name) {
  int64_t number = 0;
  const auto found = settings.find(name);
  if (found != settings.end() && !found->second.empty()) ParseInt(found->second[0], number);
  return number;
}

Status CheckLog(const std::string& name, const ParameterValue& value) {
  if (name == "log_file") return Unsupported("log file location can not be updated through network protocol");
  if (name == "log_info" || name == "log_warning" || name == "log_error") {
    if (std::holds_alternative<bool>(value)) return {};
    return InvalidArgument("log setting '", name, "' must be a boolean");
  }
  if (name == "log_verbose_level") {
    const auto* level = std::get_if<int64_t>(&value);
    if (level && *level >= 0 && *level <= std::numeric_limits<int32_t>::max()) return {};
    return InvalidArgument("log setting 'log_verbose_level' must be an integer from 0 to 2147483647");
  }
  if (name != "log_format") return InvalidArgument("unknown log setting '", name, "'");
  const auto* format = std::get_if<std::string>(&value);
  if (format && (*format == "default" || *format == "ISO8601")) return {};
  return InvalidArgument("invalid argument for log_format, got: ", format ? *format : "no text");
}

// Applies the settings of v2/logging to the server's log.
void ApplyLog(const std::map<std::string, ParameterValue>& log) {
  LogSettings settings;
  settings.info = std::get<bool>(log.at("log_info"));
  settings.warning = std::get<bool>(log.at("log_warning"));
  settings.error = std::get<bool>(log.at("log_error"));
  settings.verbose = static_cast<int>(std::get<int64_t>(log.at("log_verbose_level")));
  settings.with_time = std::get<std::string>(log.at("log_format")) == "ISO8601";
  SetLogSettings(settings);
}

}  // namespace

Result<std::unique_ptr<SettingsStore>> SettingsStore::Create(const TraceStart& trace, const LogStart& log,
                                                             const Registry* models) {
  TERN_TRY(CheckLevel(trace.level));
  std::unique_ptr<SettingsStore> store(new SettingsStore(models));
  store->start_ = store->server_ = StartSettings(trace);
  for (const char* name : kNumbers) TERN_TRY(CheckNumber(name, store->start_[name]));
  store->log_ = {{"log_file", std::string()},
                 {"log_info", log.info},
                 {"log_warning", log.warning},
                 {"log_error", log.error},
                 {"log_verbose_level", log.verbose_level},
                 {"log_format", log.format}};
  TERN_TRY(CheckLog("log_format", log.format));
  ApplyLog(store->log_);
  store->Update();
  return store;
}

Status SettingsStore::CheckModel(const std::string& model) const {
  if (model.empty() || !models_ || models_->Find(model).ok()) return {};
  return NotFound("Request for unknown model : ", model);  // Triton's text
}

Settings SettingsStore::Merged(std::string_view model) const {
  Settings merged = server_;
  const auto own = of_models_.find(model);
  if (own == of_models_.end()) return merged;
  for (const auto& [name, values] : own->second) merged[name] = values;
  return merged;
}

Result<Settings> SettingsStore::Trace(const std::string& model) {
  TERN_TRY(CheckModel(model));
  const std::lock_guard<std::mutex> lock(mutex_);
  return Merged(model);
}

Result<Settings> SettingsStore::SetTrace(const std::string& model, const Settings& changes) {
  TERN_TRY(CheckModel(model));
  for (const auto& [name, values] : changes) TERN_TRY(CheckTrace(name, values));
  const std::lock_guard<std::mutex> lock(mutex_);
  Settings& target = model.empty() ? server_ : of_models_[model];
  for (const auto& [name, values] : changes) {
    if (!values.empty())
      target[name] = values;
    else if (model.empty())
      target[name] = start_[name];
    else
      target.erase(name);
  }
  if (!model.empty() && target.empty()) of_models_.erase(model);
  Update();
  return Merged(model);
}

// The counts of requests and traces restart with each change.
void SettingsStore::Update() {
  const auto sampling = [](const Settings& s) {
    const auto& level = s.at("trace_level");
    return Sampling{!level.empty() && level[0] != "OFF", NumberOf(s, "trace_rate"),
                    NumberOf(s, "trace_count"), 0};
  };
  sampling_ = sampling(server_);
  bool any = sampling_.on;
  sampling_of_.clear();
  for (const auto& [model, own] : of_models_) {
    const auto& added = sampling_of_[model] = sampling(Merged(model));
    any |= added.on;
  }
  tracing_.store(any, std::memory_order_relaxed);
}

bool SettingsStore::Sample(std::string_view model, bool asked) {
  if (!tracing()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto own = sampling_of_.find(model);
  Sampling& s = own == sampling_of_.end() ? sampling_ : own->second;
  if (!s.on || s.left == 0) return false;
  const bool chosen = asked || (s.rate > 0 && s.seen++ % static_cast<uint64_t>(s.rate) == 0);
  if (chosen && s.left > 0) --s.left;
  return chosen;
}

std::map<std::string, ParameterValue> SettingsStore::Log() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return log_;
}

Status SettingsStore::SetLog(const std::map<std::string, ParameterValue>& changes) {
  for (const auto& [name, value] : changes) TERN_TRY(CheckLog(name, value));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [name, value] : changes) log_[name] = value;
  ApplyLog(log_);
  return {};
}

}  // namespace tern::server
