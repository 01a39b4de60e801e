// The part of a request of TensorFlow Serving, between its message and the scheduler, that HTTP and gRPC
// share.
#pragma once
#include "server/dialects/tfs/example.h"
#include "server/dialects/tfs/model_spec.h"
#include "server/dialects/tfs/shapes.h"

namespace tern::server::tfs {

// One execution of a signature.
struct Run {
  ChosenSignature signature;
  ShapeFit fit;
  int64_t items = 0;          // of a classify or regress request
  uint64_t limit = 64 << 20;  // bytes of the inputs that are made of examples
};

// These functions make the inputs and name the outputs of a classification or regression.
Status ReadClassify(const Examples& examples, Run& run, Request& request);
Status ReadRegress(const Examples& examples, Run& run, Request& request);
// Prepares a complete request for the scheduler. Fails for a decoupled model.
Status PrepareRun(Run& run, Request& request);
// Submits call->request to `model`, in several parts if it has more items than the model takes at once.
void SubmitRun(const Run& run, const std::shared_ptr<ModelVersion>& model, const std::shared_ptr<Call>& call);
// Answers a call that cannot be submitted.
void FailRun(Status status, ModelVersion& model, Call& call);
// Cuts a request as SubmitRun does. The result has one element if the request is not cut.
Result<std::vector<Request>> CutRun(const Run& run, Request request);
// Changes the shapes of the outputs to those that TensorFlow would return.
void FinishRun(const Run& run, Response& response);

}  // namespace tern::server::tfs
