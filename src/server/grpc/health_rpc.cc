// grpc.health.v1.
#include "health.pb.h"
#include "server/grpc/grpc_connection.h"
#include "server/grpc/handlers.h"

namespace tern::server {
namespace {

using ::grpc::health::v1::HealthCheckRequest;
using ::grpc::health::v1::HealthCheckResponse;

constexpr std::chrono::milliseconds kWatchInterval{200};

// Returns the state of a service. The name of a model is also a service.
HealthCheckResponse::ServingStatus StateOf(ServerContext& context, const std::string& service) {
  const bool ready = context.ready && !context.draining;
  if (IsServiceName(service)) return ready ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
  if (!context.models->Find(service).ok()) return HealthCheckResponse::SERVICE_UNKNOWN;
  return context.draining ? HealthCheckResponse::NOT_SERVING : HealthCheckResponse::SERVING;
}

std::string Serialize(HealthCheckResponse::ServingStatus state) {
  HealthCheckResponse response;
  response.set_status(state);
  return response.SerializeAsString();
}

class HealthWatchRpc : public Rpc {
 public:
  using Rpc::Rpc;

  void OnMessage(InMessage message) override {
    if (watching_) return;
    HealthCheckRequest request;
    const Status status =
        ParseMessage({reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()}, request);
    if (!status.ok()) return stream_.Finish(status);
    service_ = request.service();
    GrpcStatus refused = IsServiceName(service_) ? GrpcStatus() : stream_.CheckModel(service_);
    if (!refused.ok()) return stream_.Finish(std::move(refused));
    watching_ = true;
    OnTimer();
  }
  void OnEnd() override {
    if (!watching_) stream_.Finish({GrpcCode::kInternal, "the request has no message", 0});
  }
  void OnTimer() override {
    GrpcStatus expired = stream_.CheckValid();
    if (!expired.ok()) return stream_.Finish(std::move(expired));
    SendChange();
    stream_.connection().CallAfter(kWatchInterval, stream_.id());
  }
  void OnDrain() override {
    if (watching_) SendChange();
    stream_.Finish({GrpcCode::kUnavailable, "Server exiting", 0});
  }

 private:
  void SendChange() {
    const auto state = StateOf(stream_.connection().context(), service_);
    if (sent_ == state) return;
    sent_ = state;
    stream_.Send(MakeMessage(Serialize(state)));
  }

  std::string service_;
  bool watching_ = false;
  std::optional<HealthCheckResponse::ServingStatus> sent_;
};

}  // namespace

bool IsServiceName(std::string_view name) {
  return name.empty() || name == "inference.GRPCInferenceService" || name == "grpc.health.v1.Health";
}

Result<std::string> HandleHealthCheck(ServerContext& context, std::string_view request) {
  HealthCheckRequest message;
  TERN_TRY(ParseMessage(request, message));
  const auto state = StateOf(context, message.service());
  if (state == HealthCheckResponse::SERVICE_UNKNOWN)
    return NotFound("unknown service '", message.service(), "'");
  return Serialize(state);
}

std::unique_ptr<Rpc> MakeHealthWatchRpc(GrpcStream& stream, const RpcMethod&) {
  return std::make_unique<HealthWatchRpc>(stream);
}

}  // namespace tern::server
