// The settings of the server: flags of `tern serve`, environment variables and keys of its YAML file.
#pragma once

namespace tern::server {

enum class SettingKind { kText, kList, kFlag };

struct SettingRow {
  const char* section;
  const char* name;  // --name, TERN_SERVE_NAME, name: in the file
  SettingKind kind;
  const char* value;    // the value's name in help texts
  const char* aliases;  // Triton's flag names, separated by commas
  const char* doc;
};

inline constexpr SettingRow kServeSettings[] = {
    // What is served.
    {"Models", "repository", SettingKind::kList, "DIR", "model-repository,model-store",
     "folder of models in Triton's layout: DIR/MODEL/VERSION/model.onnx; may be repeated"},
    {"Models", "model", SettingKind::kList, "NAME=PATH", "",
     "serve one model file or folder as version 1 of NAME; may be repeated"},
    {"Models", "model-control", SettingKind::kText, "none|poll|explicit", "model-control-mode",
     "load all models at the start (none), follow changes of the folders (poll), or load what clients ask "
     "for (explicit)"},
    {"Models", "load-model", SettingKind::kList, "NAME", "",
     "with explicit control: load this model at the start; '*': all"},
    {"Models", "poll-secs", SettingKind::kText, "N", "repository-poll-secs",
     "with poll control: seconds between two looks at the folders (15)"},
    {"Models", "load-threads", SettingKind::kText, "N", "model-load-thread-count",
     "models that are loaded at the same time (2)"},
    {"Models", "strict", SettingKind::kFlag, "", "exit-on-error",
     "exit if a model of the start cannot be loaded"},
    {"Models", "no-auto-complete", SettingKind::kFlag, "", "disable-auto-complete-config",
     "do not derive configurations from models"},
    {"Models", "backend-folder", SettingKind::kText, "DIR", "backend-directory",
     "folder of back-end plug-ins (beside the program)"},

    // Where clients connect.
    {"Addresses", "address", SettingKind::kText, "ADDR", "", "address of all ports (0.0.0.0)"},
    {"Addresses", "http-port", SettingKind::kText, "N", "", "port of HTTP (8000); 0: the system chooses one"},
    {"Addresses", "grpc-port", SettingKind::kText, "N", "", "port of gRPC (8001)"},
    {"Addresses", "metrics-port", SettingKind::kText, "N", "", "port of GET /metrics for Prometheus (8002)"},
    {"Addresses", "http-address", SettingKind::kText, "ADDR", "",
     "address of HTTP, if not --address; unix:PATH is a UNIX socket"},
    {"Addresses", "grpc-address", SettingKind::kText, "ADDR", "", "address of gRPC, if not --address"},
    {"Addresses", "metrics-address", SettingKind::kText, "ADDR", "", "address of metrics, if not --address"},
    {"Addresses", "allow-http", SettingKind::kText, "true|false", "", "serve HTTP (true)"},
    {"Addresses", "allow-grpc", SettingKind::kText, "true|false", "", "serve gRPC (true)"},
    {"Addresses", "allow-metrics", SettingKind::kText, "true|false", "", "serve the metrics port (true)"},
    {"Addresses", "base-path", SettingKind::kText, "PATH", "",
     "what paths of HTTP begin with before /v2, as behind a proxy: /tern"},
    {"Addresses", "http-metrics", SettingKind::kFlag, "", "", "serve GET /metrics also on the HTTP port"},
    {"Addresses", "ready-file", SettingKind::kText, "FILE", "",
     "written when all models of the start are loaded: the ports as JSON"},

    // Who may connect, and how much may be sent.
    {"TLS and limits", "tls-certificate", SettingKind::kText, "FILE", "",
     "PEM file of the certificate of HTTP and gRPC; turns TLS on"},
    {"TLS and limits", "tls-key", SettingKind::kText, "FILE", "", "PEM file of its private key"},
    {"TLS and limits", "tls-client-ca", SettingKind::kText, "FILE", "",
     "PEM file of an authority; clients must present a certificate of it"},
    {"TLS and limits", "cors-origin", SettingKind::kText, "ORIGIN", "",
     "value of Access-Control-Allow-Origin (no CORS headers)"},
    {"TLS and limits", "shared-memory", SettingKind::kFlag, "", "allow-client-shm",
     "clients may register system shared memory"},
    {"TLS and limits", "max-body-bytes", SettingKind::kText, "N", "http-max-input-size",
     "of one request, after decompression (67108864)"},
    {"TLS and limits", "max-message-bytes", SettingKind::kText, "N", "", "of one gRPC request (2147483647)"},
    {"TLS and limits", "max-queued-bytes", SettingKind::kText, "N", "",
     "of all requests that wait or run (1073741824)"},
    {"TLS and limits", "max-connections", SettingKind::kText, "N", "", "of each port (4096)"},
    {"TLS and limits", "max-tensors", SettingKind::kText, "N", "", "of one request (1024)"},
    {"TLS and limits", "idle-secs", SettingKind::kText, "N", "",
     "an HTTP connection without a request is closed after this time (75)"},
    {"TLS and limits", "grpc-keepalive-time", SettingKind::kText, "MS", "", "between two pings (no pings)"},
    {"TLS and limits", "grpc-keepalive-timeout", SettingKind::kText, "MS", "",
     "a connection without an answer to a ping is closed (20000)"},
    {"TLS and limits", "grpc-max-connection-age", SettingKind::kText, "MS", "",
     "a gRPC connection is closed after this time (no limit)"},
    {"TLS and limits", "grpc-max-connection-age-grace", SettingKind::kText, "MS", "",
     "for its requests to finish (10000)"},
    {"TLS and limits", "grpc-compression", SettingKind::kText, "LEVEL",
     "grpc-infer-response-compression-level", "none, low, medium, high, or the level of gzip (none)"},

    // How it runs.
    {"Running", "threads", SettingKind::kText, "N", "", "that execute models (one per core)"},
    {"Running", "loops", SettingKind::kText, "N", "http-thread-count",
     "threads that serve connections (one per core)"},
    {"Running", "inline-below-us", SettingKind::kText, "N", "",
     "a model faster than this runs on the thread that received the request (100)"},
    {"Running", "exit-timeout-secs", SettingKind::kText, "N", "",
     "after SIGTERM, for accepted requests to finish (30)"},
    {"Running", "server-name", SettingKind::kText, "NAME", "id", "the name in GET /v2 (tern)"},

    // What operators see.
    {"Logs and traces", "log", SettingKind::kText, "FILE", "",
     "access log: one line of JSON per request; '-': standard output"},
    {"Logs and traces", "quiet", SettingKind::kFlag, "", "", "print nothing at the start"},
    {"Logs and traces", "trace-endpoint", SettingKind::kText, "URL", "",
     "send traces to an OpenTelemetry collector: http://HOST:4318/v1/traces"},
    {"Logs and traces", "trace-file", SettingKind::kText, "FILE", "", "write traces in Triton's JSON form"},
    {"Logs and traces", "trace-rate", SettingKind::kText, "N", "",
     "trace every N-th request (1000); requests with a sampled traceparent are always traced"},
    {"Logs and traces", "trace-count", SettingKind::kText, "N", "", "number of traces (no limit)"},
    {"Logs and traces", "trace-level", SettingKind::kText, "LEVEL", "",
     "OFF or TIMESTAMPS (TIMESTAMPS if traces have a destination)"},
};

}  // namespace tern::server
