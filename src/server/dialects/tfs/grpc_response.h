// Writes the responses of tensorflow.serving.PredictionService.
#pragma once
#include <string>
#include <vector>

#include "server/dialects/tfs/results.h"
#include "server/grpc/out_message.h"

namespace tern::server::tfs {

// What a response says about its model.
struct AnsweredBy {
  std::string model, version, signature;
};

// The serialized results of one task of MultiInference.
struct TaskResult {
  AnsweredBy model;
  bool classified = false;
  std::string result;  // a ClassificationResult, or a RegressionResult
};

std::string SerializeClasses(const std::vector<std::vector<ClassScore>>& results);
std::string SerializeRegressions(const std::vector<float>& results);

// These functions add the prefix of gRPC. They fail with kResourceExhausted if the message would be larger
// than clients can read.
Result<OutMessage> EncodePrediction(const AnsweredBy& model, const std::vector<WireTensor>& outputs);
Result<OutMessage> EncodeResult(const AnsweredBy& model, const std::string& result);
Result<OutMessage> EncodeTasks(const std::vector<TaskResult>& tasks);

}  // namespace tern::server::tfs
