#include "server/main/start_lines.h"

#include <unistd.h>

#include "data/json_writer.h"

namespace tern::server {
namespace {

constexpr size_t kShown = 20;  // number of models that are listed

std::string DescribeTensors(const std::vector<TensorConfig>& tensors, bool batched) {
  std::string text;
  for (const TensorConfig& tensor : tensors) {
    Dims dims = tensor.dims;
    if (batched) dims.insert(dims.begin(), -1);
    if (!text.empty()) text += ", ";
    text += StrCat(tensor.name, " ", WireName(tensor.dtype), "[", Join(dims, ","), "]");
  }
  return text;
}

// Returns the host name by which a client on this machine reaches an address.
std::string Host(const std::string& address) {
  if (address == "0.0.0.0" || address == "::") return "localhost";
  return address.find(':') == std::string::npos ? address : StrCat("[", address, "]");
}

std::string Place(const ListenOptions& listen, int port) {
  if (StartsWith(listen.address, "unix:")) return listen.address;
  return StrCat(Host(listen.address), ":", port);
}

std::string ModelLines(RunningServer& server) {
  std::string text;
  size_t shown = 0;
  const auto all = server.models().All();
  for (const auto& version : all) {
    if (++shown > kShown) break;
    text += StrCat("  ", version->config().name, " version ", version->version(), ": ",
                   DescribeModel(version->config()), "\n");
  }
  if (all.size() > kShown) text += StrCat("  and ", all.size() - kShown, " more\n");
  for (const IndexEntry& entry : server.Index())
    if (entry.state != ModelState::kReady && !entry.reason.empty())
      text += StrCat("  ", entry.name, entry.version.empty() ? "" : " version ", entry.version,
                     " is not served: ", entry.reason, "\n");
  return text.empty() ? "  no models\n" : text;
}

// Returns a line that posts a file or a text to a model with a pipeline.
std::string TryPipeline(const ModelConfig& config, const std::string& base) {
  if (config.raw_input.empty()) return {};
  return StrCat("\n  ", base,
                "/infer -H 'Content-Type: application/octet-stream' --data-binary @FILE   # input '",
                config.raw_input, "'");
}

std::string TryLine(const ServeOptions& options, const RunningServer& server, const Examples& examples) {
  if (!server.http_port()) return {};
  const bool tls = !options.http.listen.tls.certificate.empty();
  const std::string place = StrCat(tls ? "https://" : "", Place(options.http.listen, server.http_port()));
  const auto all = server.models().All();
  if (all.empty() || StartsWith(place, "unix:")) return {};
  const std::string base = StrCat("curl ", tls ? "-k " : "", place, "/v2/models/", all[0]->config().name);
  if (examples.request.empty()) return StrCat("try\n  ", base, TryPipeline(all[0]->config(), base), "\n");
  std::string out = StrCat("try\n  ", base, "/infer -d @", examples.request, "\n");
  if (!examples.picture.empty())
    out += StrCat("  ", base, "/infer -H 'Content-Type: image/png' --data-binary @", examples.picture, "\n");
  return out;
}

}  // namespace

std::string DescribeModel(const ModelConfig& config) {
  const bool batched = config.max_batch_size > 0;
  return StrCat(DescribeTensors(config.inputs, batched), " -> ", DescribeTensors(config.outputs, batched));
}

std::string StartLines(const ServeOptions& options, RunningServer& server, const Examples& examples) {
  std::string text = StrCat("tern " TERN_VERSION " serves\n", ModelLines(server), "at\n");
  const char* scheme = options.http.listen.tls.certificate.empty() ? "http" : "https";
  if (server.http_port())
    text += StrCat("  HTTP    ", scheme, "://", Place(options.http.listen, server.http_port()), "\n");
  if (server.grpc_port()) text += StrCat("  gRPC    ", Place(options.grpc.listen, server.grpc_port()), "\n");
  if (server.metrics_port())
    text += StrCat("  metrics ", options.metrics_tls ? "https" : "http", "://",
                   Place(options.metrics, server.metrics_port()), "/metrics\n");
  return text + TryLine(options, server, examples);
}

std::string ReadyText(const RunningServer& server) {
  data::JsonWriter json;
  json.BeginObject().Key("pid").Int(getpid()).Key("http").Int(server.http_port());
  json.Key("grpc").Int(server.grpc_port()).Key("metrics").Int(server.metrics_port());
  return json.EndObject().Take() + "\n";
}

}  // namespace tern::server
