// The settings of the server. Each is a flag of `tern serve`, an environment variable, and a key of the YAML
// file.
#pragma once

namespace tern::server {

// kGroups is a list whose items contain commas: the environment variable separates them by ';'.
enum class SettingKind { kText, kList, kGroups, kFlag };

struct SettingRow {
  const char* section;
  const char* name;  // "http-port" is --http-port, TERN_SERVE_HTTP_PORT, and http-port: in the file
  SettingKind kind;
  const char* value;    // the value's name in help texts
  const char* aliases;  // Triton's flag names, separated by commas
  const char* doc;
};

inline constexpr SettingRow kServeSettings[] = {
    // What is served.
    {"Models", "repository", SettingKind::kList, "DIR|URL", "model-repository,model-store",
     "models in Triton's layout: DIR/MODEL/VERSION/model.onnx, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, "
     "https://HOST/PATH; may be repeated"},
    {"Models", "model", SettingKind::kList, "NAME=PATH", "",
     "serve one model file or folder as version 1 of NAME; may be repeated"},
    {"Models", "model-control", SettingKind::kText, "none|poll|explicit", "model-control-mode",
     "none: load all models at the start. poll: also follow changes of the folders. explicit: load the models "
     "that clients ask for (none)"},
    {"Models", "load-model", SettingKind::kList, "NAME", "",
     "with --model-control explicit, load this model at the start; '*' means all models"},
    {"Models", "poll-secs", SettingKind::kText, "N", "repository-poll-secs",
     "with --model-control poll, seconds between two scans of the folders (15)"},
    {"Models", "load-threads", SettingKind::kText, "N", "model-load-thread-count",
     "number of models that are loaded at the same time (2)"},
    {"Models", "strict", SettingKind::kFlag, "", "exit-on-error",
     "exit if any model cannot be loaded at the start. --strict=false: never exit for that reason (exit if a "
     "model of --model cannot be loaded)"},
    {"Models", "no-auto-complete", SettingKind::kFlag, "", "disable-auto-complete-config",
     "do not fill in missing parts of configurations from the model files"},
    {"Models", "rollout-state", SettingKind::kText, "FILE", "",
     "keep labels and the state of rollouts in FILE (.tern-rollouts.json in the first local --repository, else in --repository-cache)"},
    {"Models", "change-order", SettingKind::kText, "ORDER", "",
     "load-first: old versions serve until new ones are ready. unload-first: old ones are unloaded first, "
     "which takes less memory; requests wait until new ones are ready (load-first)"},
    {"Models", "trial-timeout-secs", SettingKind::kText, "N", "",
     "a version is not released if one of its warm-up or golden requests takes more than N seconds (300)"},
    {"Models", "memory-budget", SettingKind::kText, "BYTES", "",
     "models that are resident at the same time take at most BYTES, such as 800M or 4G; the others are loaded "
     "when a request needs them (no limit)"},
    {"Models", "pin-model", SettingKind::kList, "NAME", "",
     "keep this model resident under --memory-budget; may be repeated"},
    {"Models", "backend-folder", SettingKind::kText, "DIR", "backend-directory",
     "folder of back-end plug-ins (beside the program)"},
    {"Models", "isolation", SettingKind::kText, "none|process", "",
     "process: models run in processes of their own, unless the parameter isolation of their configuration "
     "says otherwise (none)"},
    {"Models", "sandbox", SettingKind::kFlag, "", "",
     "all models run in sandboxed processes: without network, new files, other programs and new privileges"},

    {"Models", "cache", SettingKind::kGroups, "KIND:NAME=VALUE,…", "cache-config",
     "keep responses of models with response_cache: local:size=64M in the server's memory, redis:host=H,port=N "
     "in Redis; may be repeated (no cache)"},

    // Copies of remote repositories.
    {"Remote repositories", "repository-cache", SettingKind::kText, "DIR", "",
     "folder of local copies, which survives restarts (a temporary folder)"},
    {"Remote repositories", "repository-cache-bytes", SettingKind::kText, "N", "",
     "limit on the copies of each remote repository (0: what the disk has)"},
    {"Remote repositories", "store-settle-secs", SettingKind::kText, "N", "",
     "copy a version without SHA256SUMS when it did not change for N seconds (10)"},
    {"Remote repositories", "store-timeout-secs", SettingKind::kText, "N", "",
     "repeat a request if the store sends nothing for N seconds (30)"},
    {"Remote repositories", "store-attempts", SettingKind::kText, "N", "",
     "attempts of each request to a store, with growing pauses (5)"},
    {"Remote repositories", "store-ca", SettingKind::kText, "FILE", "",
     "PEM file of the authorities that sign certificates of stores (those of the system)"},
    {"Remote repositories", "store-anonymous", SettingKind::kFlag, "", "",
     "send requests to S3 and Google Cloud Storage without credentials"},
    {"Remote repositories", "s3-endpoint", SettingKind::kText, "URL", "",
     "address of a service with the interface of S3 (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or Amazon's)"},
    {"Remote repositories", "s3-region", SettingKind::kText, "NAME", "",
     "region of the buckets (AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1)"},
    {"Remote repositories", "s3-addressing", SettingKind::kText, "auto|path|virtual", "",
     "whether the bucket is in the path or in the host (virtual for Amazon's endpoint, else path)"},

    // Where clients connect.
    {"Addresses", "address", SettingKind::kText, "ADDR", "", "address of all ports (0.0.0.0)"},
    {"Addresses", "http-port", SettingKind::kText, "N", "",
     "port of HTTP (8000); 0 lets the system choose a port"},
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
     "prefix of all HTTP paths before /v2, such as /tern behind a proxy (none)"},
    {"Addresses", "http-metrics", SettingKind::kFlag, "", "", "serve GET /metrics also on the HTTP port"},
    {"Addresses", "ready-file", SettingKind::kText, "FILE", "",
     "write the ports to FILE, as JSON, when all models are loaded at the start"},

    // Who may connect, and how much clients may send.
    {"TLS and limits", "tls-certificate", SettingKind::kText, "FILE", "",
     "PEM file of the certificate for HTTP and gRPC; turns TLS on"},
    {"TLS and limits", "tls-key", SettingKind::kText, "FILE", "",
     "PEM file of the certificate's private key"},
    {"TLS and limits", "tls-client-ca", SettingKind::kText, "FILE", "",
     "PEM file of a certificate authority; clients must present a certificate that it signed"},
    {"TLS and limits", "tls-client-auth", SettingKind::kText, "require|request", "",
     "with --tls-client-ca. request: clients may also connect without a certificate (require)"},
    {"TLS and limits", "tls-min-version", SettingKind::kText, "1.2|1.3", "", "oldest version of TLS (1.2)"},
    {"TLS and limits", "metrics-tls", SettingKind::kFlag, "", "",
     "use the certificate also for the metrics port"},
    {"TLS and limits", "cors-origin", SettingKind::kText, "ORIGIN", "",
     "value of the header Access-Control-Allow-Origin (no CORS headers)"},
    {"TLS and limits", "http-restricted-api", SettingKind::kGroups, "APIS:KEY=VALUE", "",
     "only HTTP requests with the header KEY: VALUE may use these APIs, separated by commas: health, metadata, "
     "inference, shared-memory, model-config, model-repository, statistics, trace, logging, metrics; may be "
     "repeated"},
    {"TLS and limits", "grpc-restricted-protocol", SettingKind::kGroups, "APIS:KEY=VALUE", "",
     "the same for gRPC; the header is triton-grpc-protocol-KEY; may be repeated"},
    {"TLS and limits", "access-file", SettingKind::kText, "FILE", "",
     "YAML file of tokens and client certificates with their roles and quotas; turns access control on. "
     "'tern token' adds tokens"},
    {"TLS and limits", "access-open", SettingKind::kText, "LIST", "",
     "with --access-file: what needs no token: none, health, metrics, or health,metrics (health)"},
    {"TLS and limits", "access-failures", SettingKind::kText, "N", "",
     "with --access-file: wrong tokens per minute after which an address is blocked; 0: no limit (30)"},
    {"TLS and limits", "audit-log", SettingKind::kText, "FILE", "",
     "write who loads and unloads models, changes settings and registers shared memory"},
    {"TLS and limits", "audit-required", SettingKind::kText, "true|false", "",
     "refuse these actions while the audit log cannot be written (true)"},
    {"TLS and limits", "http-header-forward-pattern", SettingKind::kText, "REGEX", "",
     "HTTP headers whose names match become parameters of inference requests (none)"},
    {"TLS and limits", "grpc-header-forward-pattern", SettingKind::kText, "REGEX", "",
     "gRPC headers whose names match become parameters of inference requests (none)"},
    {"TLS and limits", "shared-memory", SettingKind::kFlag, "", "allow-client-shm",
     "let clients register system shared memory"},
    {"TLS and limits", "max-body-bytes", SettingKind::kText, "N", "http-max-input-size",
     "limit on the bytes of one request, after decompression (67108864)"},
    {"TLS and limits", "max-message-bytes", SettingKind::kText, "N", "",
     "limit on the bytes of one gRPC request (2147483647)"},
    {"TLS and limits", "max-queued-bytes", SettingKind::kText, "N", "",
     "limit on the bytes of all requests that wait or run (1073741824)"},
    {"TLS and limits", "max-connections", SettingKind::kText, "N", "",
     "limit on the connections of each port (4096)"},
    {"TLS and limits", "max-tensors", SettingKind::kText, "N", "",
     "limit on the inputs, and on the outputs, of one request (1024)"},
    {"TLS and limits", "idle-secs", SettingKind::kText, "N", "",
     "close an HTTP connection that sends no request for N seconds (75)"},
    {"TLS and limits", "grpc-keepalive-time", SettingKind::kText, "MS", "",
     "time between two pings of a gRPC connection (no pings)"},
    {"TLS and limits", "grpc-keepalive-timeout", SettingKind::kText, "MS", "",
     "close a gRPC connection that does not answer a ping within this time (20000)"},
    {"TLS and limits", "grpc-max-connection-age", SettingKind::kText, "MS", "",
     "close a gRPC connection after this time (no limit)"},
    {"TLS and limits", "grpc-max-connection-age-grace", SettingKind::kText, "MS", "",
     "time in which requests may finish after --grpc-max-connection-age (10000)"},
    {"TLS and limits", "grpc-compression", SettingKind::kText, "LEVEL",
     "grpc-infer-response-compression-level",
     "gzip level of gRPC responses: none, low, medium, high, or 1 to 9 (none)"},

    // How the server runs.
    {"Running", "threads", SettingKind::kText, "N", "",
     "number of threads that execute models (one per core)"},
    {"Running", "loops", SettingKind::kText, "N", "http-thread-count",
     "number of threads that serve connections (one per core)"},
    {"Running", "inline-below-us", SettingKind::kText, "N", "",
     "a model that takes less than N microseconds runs on the thread that received the request (100)"},
    {"Running", "exit-timeout-secs", SettingKind::kText, "N", "",
     "seconds in which accepted requests may finish after SIGTERM (30)"},
    {"Running", "server-name", SettingKind::kText, "NAME", "id", "the name in GET /v2 (tern)"},

    // What operators see.
    {"Logs and traces", "log", SettingKind::kText, "FILE", "",
     "write an access log with one line of JSON per request; '-' is standard output"},
    {"Logs and traces", "log-info", SettingKind::kText, "true|false", "",
     "write information of the server and of back ends to standard error (true)"},
    {"Logs and traces", "log-warning", SettingKind::kText, "true|false", "", "write warnings (true)"},
    {"Logs and traces", "log-error", SettingKind::kText, "true|false", "", "write errors (true)"},
    {"Logs and traces", "log-verbose", SettingKind::kText, "N", "",
     "1: also write a line per request, and per model that is loaded or unloaded (0)"},
    {"Logs and traces", "log-format", SettingKind::kText, "default|ISO8601", "",
     "ISO8601: each line of the server's log begins with the time (default)"},
    {"Logs and traces", "payload-log", SettingKind::kText, "FILE", "",
     "write requests and responses of a sample of the traffic, one line of JSON each (none)"},
    {"Logs and traces", "payload-rate", SettingKind::kText, "N", "",
     "with --payload-log, write one of N requests (1000)"},
    {"Logs and traces", "payload-max-bytes", SettingKind::kText, "N", "",
     "begin a new file after N bytes (67108864)"},
    {"Logs and traces", "payload-files", SettingKind::kText, "N", "",
     "keep N files: FILE, FILE.1 and so on (4)"},
    {"Logs and traces", "quiet", SettingKind::kFlag, "", "", "print nothing at the start"},
    {"Logs and traces", "trace-endpoint", SettingKind::kText, "URL", "",
     "send traces to an OpenTelemetry collector: http://HOST:4318/v1/traces"},
    {"Logs and traces", "trace-file", SettingKind::kText, "FILE", "", "write traces in Triton's JSON form"},
    {"Logs and traces", "trace-rate", SettingKind::kText, "N", "",
     "trace every N-th request (1000); requests with a sampled traceparent are always traced"},
    {"Logs and traces", "trace-count", SettingKind::kText, "N", "", "stop after N traces (no limit)"},
    {"Logs and traces", "trace-level", SettingKind::kText, "LEVEL", "",
     "OFF or TIMESTAMPS (TIMESTAMPS if --trace-endpoint or --trace-file is given, else OFF)"},
};

}  // namespace tern::server
