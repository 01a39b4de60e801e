// The table of all rpcs that this server implements.
#include "server/dialects/tfs/grpc_call.h"
#include "server/dialects/tfs/handlers.h"
#include "server/grpc/handlers.h"
#include "server/grpc/rpc.h"

namespace tern::server {
namespace {

constexpr RpcMethod kMethods[] = {
    {"/inference.GRPCInferenceService/ModelInfer", ApiGroup::kInference, MakeInferRpc},
    {"/inference.GRPCInferenceService/ModelStreamInfer", ApiGroup::kInference, MakeStreamInferRpc},
    {"/inference.GRPCInferenceService/ServerLive", ApiGroup::kHealth, MakeUnaryRpc, HandleServerLive},
    {"/inference.GRPCInferenceService/ServerReady", ApiGroup::kHealth, MakeUnaryRpc, HandleServerReady},
    {"/inference.GRPCInferenceService/ModelReady", ApiGroup::kHealth, MakeUnaryRpc, HandleModelReady},
    {"/inference.GRPCInferenceService/ServerMetadata", ApiGroup::kMetadata, MakeUnaryRpc,
     HandleServerMetadata},
    {"/inference.GRPCInferenceService/ModelMetadata", ApiGroup::kMetadata, MakeUnaryRpc, HandleModelMetadata},
    {"/inference.GRPCInferenceService/ModelConfig", ApiGroup::kModelConfig, MakeUnaryRpc, HandleModelConfig},
    {"/inference.GRPCInferenceService/ModelStatistics", ApiGroup::kStatistics, MakeUnaryRpc,
     HandleModelStatistics},
    {"/inference.GRPCInferenceService/RepositoryIndex", ApiGroup::kModelRepository, MakeUnaryRpc,
     HandleRepositoryIndex, RpcThread::kFiles},
    {"/inference.GRPCInferenceService/RepositoryModelLoad", ApiGroup::kModelRepository, MakeUnaryRpc,
     HandleModelLoad, RpcThread::kRepository},
    {"/inference.GRPCInferenceService/RepositoryModelUnload", ApiGroup::kModelRepository, MakeUnaryRpc,
     HandleModelUnload, RpcThread::kRepository},
    {"/inference.GRPCInferenceService/SystemSharedMemoryStatus", ApiGroup::kSharedMemory, MakeUnaryRpc,
     HandleSystemStatus},
    {"/inference.GRPCInferenceService/SystemSharedMemoryRegister", ApiGroup::kSharedMemory, MakeUnaryRpc,
     HandleSystemRegister},
    {"/inference.GRPCInferenceService/SystemSharedMemoryUnregister", ApiGroup::kSharedMemory, MakeUnaryRpc,
     HandleSystemUnregister},
    {"/inference.GRPCInferenceService/CudaSharedMemoryStatus", ApiGroup::kSharedMemory, MakeUnaryRpc,
     HandleCudaStatus},
    {"/inference.GRPCInferenceService/CudaSharedMemoryRegister", ApiGroup::kSharedMemory, MakeUnaryRpc,
     HandleCudaRegister},
    {"/inference.GRPCInferenceService/CudaSharedMemoryUnregister", ApiGroup::kSharedMemory, MakeUnaryRpc,
     HandleCudaUnregister},
    {"/inference.GRPCInferenceService/TraceSetting", ApiGroup::kTrace, MakeUnaryRpc, HandleTraceSetting,
     RpcThread::kFiles},
    {"/inference.GRPCInferenceService/LogSettings", ApiGroup::kLogging, MakeUnaryRpc, HandleLogSettings,
     RpcThread::kFiles},
    {"/tensorflow.serving.PredictionService/Predict", ApiGroup::kInference, tfs::MakePredictRpc},
    {"/tensorflow.serving.PredictionService/Classify", ApiGroup::kInference, tfs::MakeClassifyRpc},
    {"/tensorflow.serving.PredictionService/Regress", ApiGroup::kInference, tfs::MakeRegressRpc},
    {"/tensorflow.serving.PredictionService/MultiInference", ApiGroup::kInference,
     tfs::MakeMultiInferenceRpc},
    {"/tensorflow.serving.PredictionService/GetModelMetadata", ApiGroup::kMetadata, MakeUnaryRpc,
     tfs::HandleGetModelMetadata},
    {"/tensorflow.serving.ModelService/GetModelStatus", ApiGroup::kHealth, MakeUnaryRpc,
     tfs::HandleGetModelStatus, RpcThread::kFiles},
    {"/tensorflow.serving.ModelService/HandleReloadConfigRequest", ApiGroup::kModelRepository, MakeUnaryRpc,
     tfs::HandleReloadConfig},
    {"/grpc.health.v1.Health/Check", ApiGroup::kHealth, MakeUnaryRpc, HandleHealthCheck},
    {"/grpc.health.v1.Health/Watch", ApiGroup::kHealth, MakeHealthWatchRpc},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", ApiGroup::kNone, MakeReflectionRpc},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", ApiGroup::kNone, MakeReflectionRpc},
};

}  // namespace

std::span<const RpcMethod> AllMethods() { return kMethods; }

const RpcMethod* FindMethod(std::string_view path) {
  for (const RpcMethod& method : kMethods)
    if (method.path == path) return &method;
  return nullptr;
}

}  // namespace tern::server
