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

// One task of a request. Only requests of MultiInference may have several.
struct Task {
  ModelSpec spec;
  std::string method;  // of MultiInference: "tensorflow/serving/classify"
};

struct GrpcRequest {
  std::vector<Task> tasks;
  Examples examples;  // of all methods but Predict
};

// Reads the model of a request without the rest of the message. Returns an empty spec if the first field is
// not the spec, and for MultiInference, whose tasks have the specs.
ModelSpec PeekSpec(GrpcMethod method, const Buffer& message);

// Returns whether reading a message may take more than `bytes` bytes of memory. A short message may take
// much: a tensor may have one value for all elements, a context is copied to all examples, and each task has
// a copy of the examples.
bool StandsForMore(GrpcMethod method, const Buffer& message, uint64_t bytes);

// Reads a request. Inputs and requested outputs of Predict go to `out.request`; the texts of `out` are not
// set. Fails with kInvalidArgument if the message is damaged or exceeds a limit.
Status ReadGrpcRequest(GrpcMethod method, const Buffer& message, const InferParseOptions& options,
                       GrpcRequest& request, InferMessage& out);

}  // namespace tern::server::tfs
