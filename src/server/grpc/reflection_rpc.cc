// grpc.reflection: lets tools such as grpcurl discover the services.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include "health.pb.h"
#include "inference.pb.h"
#include "reflection.pb.h"
#include "server/grpc/grpc_connection.h"
#include "server/grpc/handlers.h"
#include "tensorflow_serving.pb.h"

namespace tern::server {
namespace {

using ::google::protobuf::DescriptorPool;
using ::google::protobuf::FileDescriptor;
using ::grpc::reflection::v1::ServerReflectionRequest;
using ::grpc::reflection::v1::ServerReflectionResponse;

constexpr const char* kServices[] = {
    "inference.GRPCInferenceService",       "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",  "grpc.reflection.v1alpha.ServerReflection",
    "tensorflow.serving.PredictionService", "tensorflow.serving.ModelService"};

void FillError(GrpcCode code, const std::string& message, ServerReflectionResponse& response) {
  response.mutable_error_response()->set_error_code(static_cast<int>(code));
  response.mutable_error_response()->set_error_message(message);
}

// Adds a file, then the files that it imports.
void AddFile(const FileDescriptor& file, ServerReflectionResponse& response) {
  ::google::protobuf::FileDescriptorProto proto;
  file.CopyTo(&proto);
  response.mutable_file_descriptor_response()->add_file_descriptor_proto(proto.SerializeAsString());
  for (int i = 0; i < file.dependency_count(); ++i) AddFile(*file.dependency(i), response);
}

// Finds a file of this server's services. Other files are hidden, although the pool may contain files of
// other libraries in the process.
const FileDescriptor* FindFile(const ServerReflectionRequest& request) {
  const FileDescriptor* const files[] = {inference::ModelInferRequest::descriptor()->file(),
                                         ::grpc::health::v1::HealthCheckRequest::descriptor()->file(),
                                         ServerReflectionRequest::descriptor()->file(),
                                         tensorflow::serving::PredictRequest::descriptor()->file(),
                                         tensorflow::TensorProto::descriptor()->file()};
  const DescriptorPool& pool = *files[0]->pool();
  const FileDescriptor* symbol_file = request.has_file_containing_symbol()
                                          ? pool.FindFileContainingSymbol(request.file_containing_symbol())
                                          : nullptr;
  for (const FileDescriptor* file : files)
    if (file == symbol_file || (request.has_file_by_filename() && file->name() == request.file_by_filename()))
      return file;
  return nullptr;
}

void Answer(const ServerReflectionRequest& request, ServerReflectionResponse& response) {
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const char* service : kServices)
        response.mutable_list_services_response()->add_service()->set_name(service);
      return;
    case ServerReflectionRequest::kFileByFilename:
    case ServerReflectionRequest::kFileContainingSymbol:
      if (const FileDescriptor* file = FindFile(request)) return AddFile(*file, response);
      return FillError(GrpcCode::kNotFound, "no such file or symbol", response);
    case ServerReflectionRequest::kFileContainingExtension:
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      return FillError(GrpcCode::kNotFound, "the messages of this server have no extensions", response);
    default:
      return FillError(GrpcCode::kInvalidArgument, "the request sets no field", response);
  }
}

class ReflectionRpc : public Rpc {
 public:
  using Rpc::Rpc;

  void OnMessage(InMessage message) override {
    ServerReflectionResponse response;
    ServerReflectionRequest& request = *response.mutable_original_request();
    const Status status =
        ParseMessage({reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()}, request);
    if (!status.ok()) return stream_.Finish(status);
    response.set_valid_host(request.host());
    Answer(request, response);
    stream_.Send(MakeMessage(response.SerializeAsString()));
  }
  void OnEnd() override { stream_.Finish(GrpcStatus()); }
  void OnDrain() override { stream_.Finish({GrpcCode::kUnavailable, "Server exiting", 0}); }
};

}  // namespace

std::unique_ptr<Rpc> MakeReflectionRpc(GrpcStream& stream, const RpcMethod&) {
  return std::make_unique<ReflectionRpc>(stream);
}

}  // namespace tern::server
