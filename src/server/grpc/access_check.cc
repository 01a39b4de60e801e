#include "server/grpc/access_check.h"

#include "inference.pb.h"
#include "server/grpc/grpc_connection.h"
#include "server/grpc/handlers.h"
#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

enum class Writes : uint8_t { kNever, kAlways, kIfSettings };

// Integers are numbers of fields; 0: the message has no such field.
struct Facts {
  std::string_view method;  // the part of the path behind its last dot
  Writes writes = Writes::kAlways;
  uint32_t model = 0, other_model = 0;  // the second one counts if the first is empty
  uint32_t settings = 0;
  uint32_t region = 0;
  bool all_models = false;  // if the message names no model
  bool spec = false;        // the field of the model is a message, whose field 1 is the name
};

constexpr Facts kFacts[] = {
    {"GRPCInferenceService/ModelInfer", Writes::kNever},
    {"GRPCInferenceService/ModelStreamInfer", Writes::kNever},
    {"GRPCInferenceService/ServerLive", Writes::kNever},
    {"GRPCInferenceService/ServerReady", Writes::kNever},
    {"GRPCInferenceService/ServerMetadata", Writes::kNever},
    {"GRPCInferenceService/ModelReady", Writes::kNever, 1},
    {"GRPCInferenceService/ModelMetadata", Writes::kNever, 1},
    {"GRPCInferenceService/ModelConfig", Writes::kNever, 1},
    {"GRPCInferenceService/ModelStatistics", Writes::kNever, 1, 0, 0, 0, true},
    {"GRPCInferenceService/RepositoryIndex", Writes::kNever, 0, 0, 0, 0, true},
    {"GRPCInferenceService/RepositoryModelLoad", Writes::kAlways, 2, 1},
    {"GRPCInferenceService/RepositoryModelUnload", Writes::kAlways, 2, 1},
    {"GRPCInferenceService/SystemSharedMemoryStatus", Writes::kNever},
    {"GRPCInferenceService/SystemSharedMemoryRegister", Writes::kAlways, 0, 0, 0, 1},
    {"GRPCInferenceService/SystemSharedMemoryUnregister", Writes::kAlways, 0, 0, 0, 1},
    {"GRPCInferenceService/CudaSharedMemoryStatus", Writes::kNever},
    {"GRPCInferenceService/CudaSharedMemoryRegister", Writes::kAlways, 0, 0, 0, 1},
    {"GRPCInferenceService/CudaSharedMemoryUnregister", Writes::kAlways, 0, 0, 0, 1},
    {"GRPCInferenceService/TraceSetting", Writes::kIfSettings, 2, 0, 1, 0, true},
    {"GRPCInferenceService/LogSettings", Writes::kIfSettings, 0, 0, 1, 0, true},
    {"PredictionService/Predict", Writes::kNever},
    {"PredictionService/Classify", Writes::kNever},
    {"PredictionService/Regress", Writes::kNever},
    {"PredictionService/MultiInference", Writes::kNever},
    {"PredictionService/GetModelMetadata", Writes::kNever, 1, 0, 0, 0, false, true},
    {"ModelService/GetModelStatus", Writes::kNever, 1, 0, 0, 0, false, true},
    {"ModelService/HandleReloadConfigRequest", Writes::kAlways, 0, 0, 0, 0, true},
    {"Health/Check", Writes::kNever, 1},
    {"Health/Watch", Writes::kNever},
    {"ServerReflection/ServerReflectionInfo", Writes::kNever},
};

// A method that the table lacks needs the right of an operation that changes the server.
const Facts& FactsOf(const RpcMethod& method) {
  static constexpr Facts kUnknown{};
  const std::string_view name = method.path.substr(method.path.rfind('.') + 1);
  for (const Facts& facts : kFacts)
    if (facts.method == name) return facts;
  return kUnknown;
}

bool IsReflection(const RpcMethod& method) { return method.path.starts_with("/grpc.reflection."); }

// Reads the name of a model in a message. If the message occurs twice, protobuf merges both, so a name of the
// second one replaces that of the first. Returns false for malformed bytes.
bool ReadSpec(std::string_view bytes, std::string_view& name) {
  ProtoReader reader(bytes);
  while (reader.Next())
    if (reader.Is(1, ProtoKind::kBytes)) name = reader.bytes();
  return reader.ok();
}

// Of a field that occurs twice, protobuf takes the last one, and so does this function.
RpcRequest Read(const Facts& facts, std::string_view message) {
  RpcRequest request;
  std::string_view other;
  bool settings = false, good = true;
  ProtoReader reader(message);
  while (reader.Next()) {
    if (reader.kind() != ProtoKind::kBytes) continue;
    const uint32_t field = reader.field();
    if (field == facts.model && facts.spec)
      good &= ReadSpec(reader.bytes(), request.model);
    else if (field == facts.model)
      request.model = reader.bytes();
    if (field == facts.other_model) other = reader.bytes();
    if (field == facts.region) request.name = reader.bytes();
    settings |= field == facts.settings;
  }
  if (request.model.empty()) request.model = other;
  if (request.name.empty()) request.name = request.model;
  request.all_models = request.model.empty() && facts.all_models;
  // What this reader cannot read, such as a group of old protobuf, may hide settings and names.
  good &= reader.ok();
  if (!good) request.all_models = true;
  request.writes =
      facts.writes == Writes::kAlways || (facts.writes == Writes::kIfSettings && (settings || !good));
  return request;
}

}  // namespace

RpcRequest ReadRpcRequest(const RpcMethod& method, std::string_view message) {
  RpcRequest request = Read(FactsOf(method), message);
  if (method.group == ApiGroup::kHealth && IsServiceName(request.model)) request.model = {};
  return request;
}

Right RightOf(const RpcMethod& method) {
  if (IsReflection(method)) return Right::kAny;
  const Facts& facts = FactsOf(method);
  const bool of_model = facts.model != 0 && facts.method != "Health/Check";
  return RightOf(method.group, facts.writes == Writes::kAlways, of_model);
}

GrpcStatus StatusOf(const Refusal& refusal) {
  switch (refusal.kind) {
    case Refusal::Kind::kNone:
      return {};
    case Refusal::Kind::kUnauthenticated:
      return {GrpcCode::kUnauthenticated, refusal.message, 0};
    case Refusal::Kind::kDenied:
      return {GrpcCode::kPermissionDenied, refusal.message, 0};
    case Refusal::Kind::kExhausted:
      break;
  }
  return {GrpcCode::kResourceExhausted, refusal.message, refusal.retry_after.count()};
}

GrpcStatus CheckMessage(AccessControl& access, const Visitor& visitor, const RpcMethod& method,
                        std::string_view message) {
  const RpcRequest request = ReadRpcRequest(method, message);
  Refusal refusal;
  if (request.writes) refusal = access.CheckRight(visitor, RightOf(method.group, true, false));
  if (!refusal.refused() && !request.model.empty()) refusal = access.CheckModel(visitor, request.model);
  if (!refusal.refused() && request.all_models) refusal = access.CheckAllModels(visitor);
  return StatusOf(refusal);
}

namespace {

template <class Message> std::string TextOf(std::string_view bytes) {
  Message message;
  return ParseMessage(bytes, message).ok() ? message.ShortDebugString() : std::string();
}

}  // namespace

std::string DescribeForAudit(const RpcMethod& method, std::string_view message) {
  const std::string_view name = method.path.substr(method.path.rfind('/') + 1);
  if (name == "TraceSetting") return TextOf<inference::TraceSettingRequest>(message);
  if (name == "LogSettings") return TextOf<inference::LogSettingsRequest>(message);
  if (name == "SystemSharedMemoryRegister")
    return TextOf<inference::SystemSharedMemoryRegisterRequest>(message);
  return {};
}

// What the connection knows of its client. Called after the first headers, so the handshake of TLS has ended.
const ClientFacts& GrpcConnection::client() {
  if (client_.known) return client_;
  client_.known = true;
  client_.peer = stream_->Peer();
  client_.address = AddressKey(client_.peer);
  client_.certificate = stream_->Certificate();
  return client_;
}

GrpcStatus GrpcStream::CheckAccess() {
  AccessControl* access = connection_.context().access;
  if (!access) return {};
  const ClientFacts& client = connection_.client();
  const Operation operation{method_ ? method_->group : ApiGroup::kNone,
                            method_ ? RightOf(*method_) : Right::kAny};
  return StatusOf(access->Enter({authorizations_, authorization_, client.certificate.get(), client.address},
                                operation, visitor_));
}

GrpcStatus GrpcStream::CheckModel(std::string_view model) const {
  AccessControl* access = connection_.context().access;
  return access ? StatusOf(access->CheckModel(visitor_, model)) : GrpcStatus();
}

GrpcStatus GrpcStream::CheckValid() const {
  AccessControl* access = connection_.context().access;
  return access && !visitor_.Valid() ? StatusOf(access->CheckValid(visitor_)) : GrpcStatus();
}

GrpcStatus GrpcStream::Admit(const InMessage& message, bool further, Permit& permit) const {
  AccessControl* access = connection_.context().access;
  if (!access) return {};
  Refusal refusal = further ? access->CountRequest(visitor_) : Refusal();
  if (!refusal.refused()) refusal = access->Admit(visitor_, message.bytes.size(), permit);
  return StatusOf(refusal);
}

}  // namespace tern::server
