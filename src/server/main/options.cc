#include "server/main/options.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "server/main/setting_table.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Names = std::vector<std::pair<std::string, std::string>>;

constexpr int64_t kLarge = int64_t{1} << 40;

Result<int64_t> Integer(const std::string& value, int64_t lowest, int64_t highest) {
  int64_t number = 0;
  if (!ParseInt(value, number)) return InvalidArgument("'", value, "' is not an integer");
  if (number < lowest || number > highest)
    return InvalidArgument(value, " is not between ", lowest, " and ", highest);
  return number;
}

Result<bool> Boolean(const std::string& value) {
  if (value == "true" || value == "1" || value == "yes" || value == "on") return true;
  if (value == "false" || value == "0" || value == "no" || value == "off") return false;
  return InvalidArgument("'", value, "' is neither true nor false");
}

// The setters in the tables below call these functions.
template <class T> Status SetInteger(T& out, const std::string& value, int64_t lowest, int64_t highest) {
  TERN_ASSIGN(const int64_t number, Integer(value, lowest, highest));
  out = T(number);
  return {};
}
Status SetFlag(bool& out, const std::string& value) {
  TERN_ASSIGN(out, Boolean(value));
  return {};
}
Status SetText(std::string& out, const std::string& value) {
  out = value;
  return {};
}
Status SetPort(int& out, const std::string& value) { return SetInteger(out, value, 0, 65535); }

Status AddModel(ServeOptions& o, const std::string& value) {
  const size_t equal = value.find('=');
  if (equal == std::string::npos) {
    const std::string stem = std::filesystem::path(value).stem().string();
    return InvalidArgument("'", value, "' is not of the form NAME=PATH, such as ",
                           stem.empty() ? "NAME" : stem, "=", value);
  }
  if (equal == 0 || equal + 1 == value.size())
    return InvalidArgument("'", value, "' is not of the form NAME=PATH");
  o.repository.models.push_back({value.substr(0, equal), value.substr(equal + 1)});
  return {};
}

Status SetControl(ServeOptions& o, const std::string& value) {
  const std::pair<const char*, ControlMode> modes[] = {
      {"none", ControlMode::kNone}, {"poll", ControlMode::kPoll}, {"explicit", ControlMode::kExplicit}};
  for (const auto& [name, mode] : modes)
    if (value == name) {
      o.repository.control = mode;
      return {};
    }
  return InvalidArgument("'", value, "' must be none, poll or explicit");
}

Status SetIsolation(ServeOptions& o, const std::string& value) {
  if (value != "none" && value != "process") return InvalidArgument("'", value, "' must be none or process");
  o.repository.isolation.process = value == "process";
  return {};
}

Status SetAddressing(ServeOptions& o, const std::string& value) {
  const std::pair<const char*, S3Addressing> kinds[] = {
      {"auto", S3Addressing::kAuto}, {"path", S3Addressing::kPath}, {"virtual", S3Addressing::kVirtualHost}};
  for (const auto& [name, kind] : kinds)
    if (value == name) {
      o.repository.store.s3_addressing = kind;
      return {};
    }
  return InvalidArgument("'", value, "' must be auto, path or virtual");
}

Status SetStoreTimeout(ServeOptions& o, const std::string& value) {
  int64_t seconds = 0;
  TERN_TRY(SetInteger(seconds, value, 1, 3600));
  o.repository.store.timeout = std::chrono::seconds(seconds);
  return {};
}

Status SetOrder(ServeOptions& o, const std::string& value) {
  if (value != "load-first" && value != "unload-first")
    return InvalidArgument("'", value, "' must be load-first or unload-first");
  o.repository.order = value == "load-first" ? ChangeOrder::kLoadFirst : ChangeOrder::kUnloadFirst;
  return {};
}

Status SetTrialTimeout(ServeOptions& o, const std::string& value) {
  int64_t seconds = 0;
  TERN_TRY(SetInteger(seconds, value, 1, 86'400));
  o.repository.trial_limit = std::chrono::seconds(seconds);
  return {};
}

// Reads a number of bytes with an optional suffix K, M, G or T, in units of 1024.
Status SetBytes(uint64_t& out, const std::string& value) {
  constexpr std::string_view kSuffixes = "KMGT";
  const size_t power = value.empty() ? std::string_view::npos : kSuffixes.find(value.back());
  const bool suffix = power != std::string_view::npos;
  int64_t number = 0;
  if (!ParseInt(suffix ? value.substr(0, value.size() - 1) : value, number) || number < 1)
    return InvalidArgument("'", value, "' is not a number of bytes, such as 800M or 4G");
  const int shift = suffix ? 10 * static_cast<int>(power + 1) : 0;
  if (number > (int64_t{1} << 60) >> shift) return InvalidArgument("'", value, "' is too large");
  out = static_cast<uint64_t>(number) << shift;
  return {};
}

Status SetCompression(ServeOptions& o, const std::string& value) {
  const std::pair<const char*, int> levels[] = {{"none", 0}, {"low", 1}, {"medium", 6}, {"high", 9}};
  for (const auto& [name, level] : levels)
    if (value == name) {
      o.grpc.response_compression = level;
      return {};
    }
  return SetInteger(o.grpc.response_compression, value, 0, 9);
}

Status SetPattern(std::shared_ptr<const HeaderPattern>& out, const std::string& value) {
  TERN_ASSIGN(out, HeaderPattern::Compile(value));
  return {};
}

Status SetConnections(ServeOptions& o, const std::string& value) {
  TERN_TRY(SetInteger(o.limits.connections, value, 1, 1'000'000));
  o.http.listen.connections = o.grpc.listen.connections = o.metrics.connections = o.limits.connections;
  return {};
}

template <class T> Status SetTls(ServeOptions& o, T TlsOptions::*field, T value) {
  o.http.listen.tls.*field = o.grpc.listen.tls.*field = std::move(value);
  return {};
}

// Sets a flag to true if the value is `yes`, and to false if it is `no`. Refuses any other value.
Status SetTlsChoice(ServeOptions& o, bool TlsOptions::*field, const char* no, const char* yes,
                    const std::string& value) {
  if (value != no && value != yes) return InvalidArgument("'", value, "' must be ", no, " or ", yes);
  return SetTls(o, field, value == yes);
}

Status SetOpen(ServeOptions& o, const std::string& value) {
  o.access.open_health = o.access.open_metrics = false;
  for (const std::string& word : SplitText(value, ',')) {
    if (word == "health")
      o.access.open_health = true;
    else if (word == "metrics")
      o.access.open_metrics = true;
    else if (word != "none" || value != "none")
      return InvalidArgument("'", value, "' must be none, health, metrics or health,metrics");
  }
  return {};
}

using Setter = Status (*)(ServeOptions&, const std::string&);
struct Row {
  const char* name;
  Setter set;
};

#define TERN_SET(body) [](ServeOptions& o, const std::string& v) -> Status { body; }
constexpr Row kModelRows[] = {
    {"repository", TERN_SET(o.repository.folders.push_back(v); return {})},
    {"model", AddModel},
    {"model-control", SetControl},
    {"load-model", TERN_SET(o.repository.load_at_start.push_back(v); return {})},
    {"poll-secs", TERN_SET(return SetInteger(o.repository.poll_interval, v, 1, 1'000'000))},
    {"load-threads", TERN_SET(return SetInteger(o.repository.load_threads, v, 1, 1024))},
    {"strict", TERN_SET(bool all = false; TERN_TRY(SetFlag(all, v));
                        o.repository.must_load = all ? MustLoad::kAll : MustLoad::kNone; return {})},
    {"no-auto-complete",
     TERN_SET(bool off = false; TERN_TRY(SetFlag(off, v)); o.repository.auto_complete = !off; return {})},
    {"change-order", SetOrder},
    {"trial-timeout-secs", SetTrialTimeout},
    {"memory-budget", TERN_SET(return SetBytes(o.repository.memory_budget, v))},
    {"pin-model", TERN_SET(o.repository.pinned.push_back(v); return {})},
    {"backend-folder", TERN_SET(return SetText(o.repository.backend_folder, v))},
    {"isolation", SetIsolation},
    {"sandbox", TERN_SET(return SetFlag(o.repository.isolation.sandbox, v))},
    {"cache", TERN_SET(return AddCache(v, o.cache))},
    {"threads", TERN_SET(return SetInteger(o.scheduler.threads, v, 0, 4096))},
    {"inline-below-us", TERN_SET(return SetInteger(o.scheduler.inline_below, v, 0, 1'000'000'000))},
};
constexpr Row kStoreRows[] = {
    {"repository-cache", TERN_SET(return SetText(o.repository.store.cache_folder, v))},
    {"repository-cache-bytes", TERN_SET(return SetInteger(o.repository.store.cache_bytes, v, 0, INT64_MAX))},
    {"store-settle-secs", TERN_SET(return SetInteger(o.repository.store.settle, v, 0, 86400))},
    {"store-timeout-secs", SetStoreTimeout},
    {"store-attempts", TERN_SET(return SetInteger(o.repository.store.attempts, v, 1, 100))},
    {"store-ca", TERN_SET(return SetText(o.repository.store.authorities, v))},
    {"store-anonymous", TERN_SET(return SetFlag(o.repository.store.anonymous, v))},
    {"s3-endpoint", TERN_SET(return SetText(o.repository.store.s3_endpoint, v))},
    {"s3-region", TERN_SET(return SetText(o.repository.store.s3_region, v))},
    {"s3-addressing", SetAddressing},
};
constexpr Row kNetRows[] = {
    {"address", TERN_SET(return SetText(o.address, v))},
    {"http-port", TERN_SET(return SetPort(o.http.listen.port, v))},
    {"grpc-port", TERN_SET(return SetPort(o.grpc.listen.port, v))},
    {"metrics-port", TERN_SET(return SetPort(o.metrics.port, v))},
    {"http-address", TERN_SET(return SetText(o.http.listen.address, v))},
    {"grpc-address", TERN_SET(return SetText(o.grpc.listen.address, v))},
    {"metrics-address", TERN_SET(return SetText(o.metrics.address, v))},
    {"allow-http", TERN_SET(return SetFlag(o.serve_http, v))},
    {"allow-grpc", TERN_SET(return SetFlag(o.serve_grpc, v))},
    {"allow-metrics", TERN_SET(return SetFlag(o.serve_metrics, v))},
    {"base-path", TERN_SET(return SetText(o.http.base_path, v))},
    {"http-metrics", TERN_SET(return SetFlag(o.http.metrics, v))},
    {"tls-certificate", TERN_SET(return SetTls(o, &TlsOptions::certificate, v))},
    {"tls-key", TERN_SET(return SetTls(o, &TlsOptions::key, v))},
    {"tls-client-ca", TERN_SET(return SetTls(o, &TlsOptions::client_ca, v))},
    {"tls-client-auth",
     TERN_SET(return SetTlsChoice(o, &TlsOptions::client_optional, "require", "request", v))},
    {"tls-min-version", TERN_SET(return SetTlsChoice(o, &TlsOptions::only_tls13, "1.2", "1.3", v))},
    {"metrics-tls", TERN_SET(return SetFlag(o.metrics_tls, v))},
    {"access-file", TERN_SET(return SetText(o.access.file, v))},
    {"access-open", SetOpen},
    {"access-failures", TERN_SET(return SetInteger(o.access.failures_per_minute, v, 0, 1'000'000))},
    {"audit-log", TERN_SET(return SetText(o.audit.file, v))},
    {"audit-required", TERN_SET(return SetFlag(o.audit.required, v))},
    {"http-restricted-api", TERN_SET(return o.http.restrictions.Add(v, "", "api"))},
    {"grpc-restricted-protocol",
     TERN_SET(return o.grpc.restrictions.Add(v, "triton-grpc-protocol-", "protocol"))},
    {"http-header-forward-pattern", TERN_SET(return SetPattern(o.http.forward, v))},
    {"grpc-header-forward-pattern", TERN_SET(return SetPattern(o.grpc.forward, v))},
    {"cors-origin", TERN_SET(return SetText(o.http.cors_origin, v))},
    {"idle-secs", TERN_SET(return SetInteger(o.http.idle, v, 1, 1'000'000))},
    {"grpc-keepalive-time", TERN_SET(return SetInteger(o.grpc.keepalive_time, v, 0, kLarge))},
    {"grpc-keepalive-timeout", TERN_SET(return SetInteger(o.grpc.keepalive_timeout, v, 1, kLarge))},
    {"grpc-max-connection-age", TERN_SET(return SetInteger(o.grpc.max_connection_age, v, 0, kLarge))},
    {"grpc-max-connection-age-grace",
     TERN_SET(return SetInteger(o.grpc.max_connection_age_grace, v, 0, kLarge))},
    {"grpc-compression", SetCompression},
    {"max-message-bytes", TERN_SET(return SetInteger(o.grpc.max_message_bytes, v, 1, INT32_MAX))},
};
constexpr Row kOtherRows[] = {
    {"rollout-state", TERN_SET(return SetText(o.rollout_state, v))},
    {"ready-file", TERN_SET(return SetText(o.ready_file, v))},
    {"shared-memory", TERN_SET(return SetFlag(o.shared_memory, v))},
    {"max-body-bytes", TERN_SET(return SetInteger(o.limits.body_bytes, v, 1, kLarge))},
    {"max-queued-bytes", TERN_SET(return SetInteger(o.limits.queued_bytes, v, 1, kLarge))},
    {"max-connections", SetConnections},
    {"max-tensors", TERN_SET(return SetInteger(o.limits.tensors, v, 1, 1'000'000))},
    {"loops", TERN_SET(return SetInteger(o.loops, v, 0, 1024))},
    {"exit-timeout-secs", TERN_SET(return SetInteger(o.exit_timeout, v, 0, 1'000'000))},
    {"server-name", TERN_SET(return SetText(o.name, v))},
    {"log", TERN_SET(return SetText(o.observe.access_log, v))},
    {"log-info", TERN_SET(return SetFlag(o.observe.log.info, v))},
    {"log-warning", TERN_SET(return SetFlag(o.observe.log.warning, v))},
    {"log-error", TERN_SET(return SetFlag(o.observe.log.error, v))},
    {"log-verbose", TERN_SET(return SetInteger(o.observe.log.verbose_level, v, 0, INT32_MAX))},
    {"log-format", TERN_SET(return SetText(o.observe.log.format, v))},
    {"payload-log", TERN_SET(return SetText(o.observe.payload.file, v))},
    {"payload-rate", TERN_SET(return SetInteger(o.observe.payload.rate, v, 1, kLarge))},
    {"payload-max-bytes", TERN_SET(return SetInteger(o.observe.payload.max_bytes, v, 4096, kLarge))},
    {"payload-files", TERN_SET(return SetInteger(o.observe.payload.files, v, 1, 1000))},
    {"quiet", TERN_SET(return SetFlag(o.quiet, v))},
    {"trace-endpoint",
     TERN_SET(o.observe.trace.mode = "opentelemetry"; return SetText(o.observe.trace_endpoint, v))},
    {"trace-file", TERN_SET(return SetText(o.observe.trace.file, v))},
    {"trace-rate",
     TERN_SET(return SetInteger(o.observe.trace.rate, v, 0, std::numeric_limits<uint32_t>::max()))},
    {"trace-count",
     TERN_SET(return SetInteger(o.observe.trace.count, v, -1, std::numeric_limits<int32_t>::max()))},
    {"trace-level", TERN_SET(o.observe.trace.level = {v}; return {})},
};
#undef TERN_SET

const SettingRow* FindSetting(std::string_view name) {
  for (const SettingRow& row : kServeSettings) {
    if (name == row.name) return &row;
    for (const std::string& alias : SplitText(row.aliases, ','))
      if (!alias.empty() && name == alias) return &row;
  }
  return nullptr;
}

bool IsList(const SettingRow& row) {
  return row.kind == SettingKind::kList || row.kind == SettingKind::kGroups;
}

std::string VariableOf(const char* name) {
  std::string variable = StrCat("TERN_SERVE_", name);
  for (char& c : variable) c = c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return variable;
}

Names EnvironmentSettings(const Environment& environment) {
  Names found;
  for (const SettingRow& row : kServeSettings) {
    const char* value = environment(VariableOf(row.name));
    if (!value || !*value) continue;
    if (!IsList(row)) {
      found.emplace_back(row.name, value);
      continue;
    }
    for (const std::string& item : SplitText(value, row.kind == SettingKind::kGroups ? ';' : ','))
      if (!item.empty()) found.emplace_back(row.name, item);
  }
  return found;
}

// Applies the settings of one source, except those in `set`, which a source of higher priority has set.
// `source` names the source in messages.
Status ApplyAll(const Names& settings, const std::string& source, std::set<std::string>& set,
                ServeOptions& options) {
  std::set<std::string> here;
  for (const auto& [name, value] : settings) {
    const SettingRow* row = FindSetting(name);
    if (!row) return InvalidArgument(source, ": unknown setting '", name, "'; see tern serve --help");
    if (set.count(row->name)) continue;
    if (!here.insert(row->name).second && !IsList(*row))
      return InvalidArgument(source, ": '", row->name, "' is set twice");
    const Status status = ApplySetting(row->name, value, options);
    if (!status.ok()) return Status(status.code(), StrCat(source, ": ", row->name, ": ", status.message()));
  }
  set.insert(here.begin(), here.end());
  return {};
}

// A port without its own address gets the address of --address.
void FillAddresses(ServeOptions& o) {
  for (std::string* address : {&o.http.listen.address, &o.grpc.listen.address, &o.metrics.address})
    if (address->empty()) *address = o.address;
}

Status Check(const ServeOptions& o) {
  const TlsOptions& tls = o.http.listen.tls;
  if (tls.certificate.empty() != tls.key.empty())
    return InvalidArgument("tls-certificate and tls-key must be given together");
  if (!tls.client_ca.empty() && tls.certificate.empty())
    return InvalidArgument("tls-client-ca needs tls-certificate");
  TERN_TRY(CheckCache(o.cache));
  if (tls.client_optional && tls.client_ca.empty())
    return InvalidArgument("tls-client-auth needs tls-client-ca");
  if (o.metrics_tls && tls.certificate.empty()) return InvalidArgument("metrics-tls needs tls-certificate");
  if (!o.serve_http && !o.serve_grpc) return InvalidArgument("neither HTTP nor gRPC is served");
  return {};
}

ServeOptions Defaults() {
  ServeOptions o;
  o.http.listen.address = o.grpc.listen.address = o.metrics.address = "";
  o.http.listen.port = 8000;
  o.http.listen.alpn = "http/1.1";
  o.grpc.listen.port = 8001;
  o.grpc.listen.alpn = "h2";
  o.metrics.port = 8002;
  return o;
}

}  // namespace

Status ApplySetting(const std::string& name, const std::string& value, ServeOptions& options) {
  for (const auto& rows : {std::pair(std::begin(kModelRows), std::end(kModelRows)),
                           std::pair(std::begin(kStoreRows), std::end(kStoreRows)),
                           std::pair(std::begin(kNetRows), std::end(kNetRows)),
                           std::pair(std::begin(kOtherRows), std::end(kOtherRows))})
    for (const Row* row = rows.first; row != rows.second; ++row)
      if (name == row->name) return row->set(options, value);
  return InvalidArgument("unknown setting '", name, "'");
}

Result<ServeOptions> ReadOptions(const Names& flags, const Environment& environment) {
  Names rest;
  const char* variable = environment("TERN_SERVE_CONFIG");
  std::string file = variable ? variable : "";
  for (const auto& flag : flags) {
    if (flag.first == "config")
      file = flag.second;
    else
      rest.push_back(flag);
  }
  Names of_file;
  if (!file.empty()) {
    TERN_ASSIGN(of_file, ReadSettingsFile(file));
  }
  const Names of_environment = EnvironmentSettings(environment);
  ServeOptions options = Defaults();
  std::set<std::string> set;
  TERN_TRY(ApplyAll(rest, "command line", set, options));
  TERN_TRY(ApplyAll(of_environment, "environment", set, options));
  TERN_TRY(ApplyAll(of_file, file, set, options));
  if ((!options.observe.trace_endpoint.empty() || !options.observe.trace.file.empty()) &&
      !set.count("trace-level"))
    options.observe.trace.level = {"TIMESTAMPS"};
  FillAddresses(options);
  TERN_TRY(Check(options));
  return options;
}

}  // namespace tern::server
