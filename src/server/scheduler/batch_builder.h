// Joins the tensors of several requests to one batch, and splits the outputs.
#pragma once
#include <vector>

#include "server/core/backend.h"
#include "server/scheduler/call_queue.h"

namespace tern::server {

// True if two requests can be in one batch: they have the same inputs, and these differ at most in the batch
// dim unless they are ragged.
bool CanShareBatch(const ModelConfig& config, const Request& a, const Request& b);

// The requests of one execution. A null request is an empty slot of a sequence batch; at least one is not
// null.
struct BatchLayout {
  std::vector<const Request*> requests;
  std::vector<int64_t> items;  // per request
  int64_t total = 0;           // sum of items
  int64_t padded = 0;          // the size of the batch that the model gets
};

// Thread-safe.
class BatchBuilder {
 public:
  explicit BatchBuilder(const ModelConfig& config) : config_(config) {}

  BatchLayout Layout(const std::vector<QueuedCallPtr>& calls) const;
  // Fills inputs, outputs and destinations. Copies each byte once if there are several requests or padding,
  // else shares the request's bytes.
  Status Build(const BatchLayout& layout, Batch& batch) const;
  // Returns the outputs of each request of the layout. They share the memory of `outputs`.
  Result<std::vector<std::vector<WireTensor>>> Split(const BatchLayout& layout,
                                                     std::vector<WireTensor> outputs) const;

 private:
  Result<WireTensor> Join(const BatchLayout& layout, const TensorConfig& input) const;
  Status SplitOne(const BatchLayout& layout, const WireTensor& output,
                  std::vector<std::vector<WireTensor>>& parts) const;
  Result<std::vector<WireTensor>> SplitTensor(const BatchLayout& layout, const WireTensor& output) const;
  Result<std::vector<WireTensor>> Scatter(const BatchLayout& layout, const WireTensor& output,
                                          const std::string& source) const;
  int64_t PaddedSize(int64_t total) const;

  const ModelConfig& config_;  // of the model, which outlives this
};

// Appends the additional inputs that `config` describes.
Status AddBatchInputs(const ModelConfig& config, const BatchLayout& layout, std::vector<WireTensor>& inputs);

const WireTensor* FindTensor(const std::vector<WireTensor>& tensors, std::string_view name);
// Memory that is not set to zero.
Buffer AllocateRaw(size_t bytes);
// Dims of `value` (which match `from`) in the form of `to`; the sizes of -1 are taken over in order.
Dims Reshaped(const Dims& value, const Dims& from, const Dims& to);

}  // namespace tern::server
