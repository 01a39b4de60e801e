// Reads the requests of tensorflow.serving.PredictionService.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "server/dialects/tfs/example.h"
#include "server/dialects/tfs/model_spec.h"
#include "server/grpc/infer_request.h"

namespace tern::server::tfs {

enum class GrpcMethod { kPredict, kClassify, kRegress, kMultiInference };

// One task of a request: all but MultiInference have one.
struct Task {
  ModelSpec spec;
  std::string method;  // of MultiInference: "tensorflow/serving/classify"
};

struct GrpcRequest {
  std::vector<Task> tasks;
  Examples examples;  // of all methods but Predict
};

// Reads the model of a request before the rest of it. Returns an empty spec if it is not in the first field.
ModelSpec PeekSpec(GrpcMethod method, const Buffer& message);

// Returns whether a message may take more than `bytes` when it is read, however short it is: tensors with one
// value for all elements, a context for many examples, several tasks.
bool StandsForMore(GrpcMethod method, const Buffer& message, uint64_t bytes);

// Reads a request. Inputs and requested outputs of Predict go to `out.request`; the texts of `out` are not
// set. Fails with kInvalidArgument if the message is damaged or exceeds a limit.
Status ReadGrpcRequest(GrpcMethod method, const Buffer& message, const InferParseOptions& options,
                       GrpcRequest& request, InferMessage& out);

}  // namespace tern::server::tfs
