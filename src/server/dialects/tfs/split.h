// Runs one request as several. TensorFlow Serving accepts any number of items in a request, also for a model
// with a fixed batch of 1.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "server/core/model_version.h"

namespace tern::server::tfs {

// One of the requests that replace the whole request.
struct Part {
  std::shared_ptr<ModelVersion> model;
  Request request;
};

// Makes the response of the whole call from the responses of the parts, in the order of the parts. All of
// them are successful.
using JoinParts = std::function<Response(std::vector<Response> responses)>;

// Submits the parts, and answers `whole` after all parts have answered. The response is that of `join`, or
// the error of a part that failed. If a part fails or `whole` is cancelled, the other parts are cancelled.
// `whole` gets the times of the part that ended last.
void SubmitParts(std::shared_ptr<Call> whole, std::vector<Part> parts, JoinParts join);

// Returns how many items of the request one execution takes: all of them (0), the model's max_batch_size if
// the request has more, or 1 for a model without batch dim whose inputs and outputs all begin with a dim
// of 1.
int64_t ItemsPerPart(const ModelConfig& config, const Request& request);
// Cuts the request's inputs along their first dim. Fails with kInvalidArgument if there would be more than
// 1024 parts, or if an input is damaged.
Result<std::vector<Request>> CutRequest(const Request& request, int64_t items);
// Concatenates the outputs along their first dim.
Response ConcatenateOutputs(std::vector<Response> responses);

}  // namespace tern::server::tfs
