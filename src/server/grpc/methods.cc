// The table of all rpcs that this server implements.
#include "server/grpc/handlers.h"
#include "server/grpc/rpc.h"

namespace tern::server {
namespace {

constexpr RpcMethod kMethods[] = {
    {"/inference.GRPCInferenceService/ModelInfer", MakeInferRpc},
    {"/inference.GRPCInferenceService/ModelStreamInfer", MakeStreamInferRpc},
    {"/inference.GRPCInferenceService/ServerLive", MakeUnaryRpc, HandleServerLive},
    {"/inference.GRPCInferenceService/ServerReady", MakeUnaryRpc, HandleServerReady},
    {"/inference.GRPCInferenceService/ModelReady", MakeUnaryRpc, HandleModelReady},
    {"/inference.GRPCInferenceService/ServerMetadata", MakeUnaryRpc, HandleServerMetadata},
    {"/inference.GRPCInferenceService/ModelMetadata", MakeUnaryRpc, HandleModelMetadata},
    {"/inference.GRPCInferenceService/ModelConfig", MakeUnaryRpc, HandleModelConfig},
    {"/inference.GRPCInferenceService/ModelStatistics", MakeUnaryRpc, HandleModelStatistics},
    {"/inference.GRPCInferenceService/RepositoryIndex", MakeUnaryRpc, HandleRepositoryIndex,
     RpcThread::kWork},
    {"/inference.GRPCInferenceService/RepositoryModelLoad", MakeUnaryRpc, HandleModelLoad,
     RpcThread::kRepository},
    {"/inference.GRPCInferenceService/RepositoryModelUnload", MakeUnaryRpc, HandleModelUnload,
     RpcThread::kRepository},
    {"/inference.GRPCInferenceService/SystemSharedMemoryStatus", MakeUnaryRpc, HandleSystemStatus},
    {"/inference.GRPCInferenceService/SystemSharedMemoryRegister", MakeUnaryRpc, HandleSystemRegister},
    {"/inference.GRPCInferenceService/SystemSharedMemoryUnregister", MakeUnaryRpc, HandleSystemUnregister},
    {"/inference.GRPCInferenceService/CudaSharedMemoryStatus", MakeUnaryRpc, HandleCudaStatus},
    {"/inference.GRPCInferenceService/CudaSharedMemoryRegister", MakeUnaryRpc, HandleCudaRegister},
    {"/inference.GRPCInferenceService/CudaSharedMemoryUnregister", MakeUnaryRpc, HandleCudaUnregister},
    {"/inference.GRPCInferenceService/TraceSetting", MakeUnaryRpc, HandleTraceSetting, RpcThread::kWork},
    {"/inference.GRPCInferenceService/LogSettings", MakeUnaryRpc, HandleLogSettings, RpcThread::kWork},
    {"/grpc.health.v1.Health/Check", MakeUnaryRpc, HandleHealthCheck},
    {"/grpc.health.v1.Health/Watch", MakeHealthWatchRpc},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", MakeReflectionRpc},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", MakeReflectionRpc},
};

}  // namespace

const RpcMethod* FindMethod(std::string_view path) {
  for (const RpcMethod& method : kMethods)
    if (method.path == path) return &method;
  return nullptr;
}

}  // namespace tern::server
