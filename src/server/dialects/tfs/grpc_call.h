// The rpcs of tensorflow.serving.PredictionService that execute models.
#pragma once
#include <memory>

#include "server/grpc/rpc.h"

namespace tern::server::tfs {

std::unique_ptr<Rpc> MakePredictRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeClassifyRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeRegressRpc(GrpcStream& stream, const RpcMethod& method);
std::unique_ptr<Rpc> MakeMultiInferenceRpc(GrpcStream& stream, const RpcMethod& method);

}  // namespace tern::server::tfs
