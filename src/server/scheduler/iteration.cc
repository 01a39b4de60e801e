#include "server/scheduler/iteration.h"

namespace tern::server {

Result<std::vector<Iteration>> IterationsOf(const BatchLayout& layout, const std::vector<AgainRow>& rows) {
  std::vector<Iteration> iterations(layout.requests.size(), Iteration::kLast);
  for (const AgainRow& again : rows) {
    uint64_t row = again.row;
    size_t i = 0;
    while (i < layout.items.size() && row >= static_cast<uint64_t>(layout.items[i]))
      row -= static_cast<uint64_t>(layout.items[i++]);
    if (i == layout.items.size())
      return InvalidModel("the back end reschedules row ", again.row, " of a batch of ", layout.total);
    const bool responds = again.respond || iterations[i] == Iteration::kResponds;
    iterations[i] = responds ? Iteration::kResponds : Iteration::kSilent;
  }
  return iterations;
}

// The messages are Triton's, because clients match them.
Status CheckAgain(const ModelConfig& config, const QueuedCall& call, Clock::time_point now) {
  if (!config.sequence || !config.sequence->iterative)
    return InvalidArgument(
        "Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not configured "
        "to handle such a flag: set iterative_sequence of sequence_batching");
  if (call.call->cancelled()) return Status(Code::kCancelled, "the request was cancelled");
  const auto limit = config.sequence->max_idle;
  if (limit.count() == 0 || now - call.times.input <= limit) return {};
  return InvalidArgument("inference request for sequence ", call.call->request.sequence.id, " to model '",
                         config.name,
                         "' must specify the START flag on the first request of the sequence: an iteration "
                         "took longer than max_sequence_idle_microseconds, which ended the sequence");
}

}  // namespace tern::server
