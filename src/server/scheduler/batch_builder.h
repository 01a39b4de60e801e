// Concatenates the tensors of several requests to one batch, and splits the outputs.
#pragma once
#include <vector>

#include "server/core/backend.h"
#include "server/scheduler/call_queue.h"

namespace tern::server {

// Returns whether two requests can be in one batch. They must have the same inputs. The dims of an input may
// differ only in the batch dim, unless the input is ragged.
bool CanShareBatch(const ModelConfig& config, const Request& a, const Request& b);

// The requests of one execution. A null request is an empty slot of a sequence batch. At least one request is
// not null.
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
  // Fills inputs and outputs. Copies each byte once if there are several requests or padding.
  // Otherwise the batch shares the bytes of the request.
  Status Build(const BatchLayout& layout, Batch& batch) const;
  // Returns the outputs of each request of the layout. The results share the memory of `outputs`.
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

  const ModelConfig& config_;  // belongs to the model, which outlives this object
};

// Appends the inputs that config.batch_inputs describes.
Status AddBatchInputs(const ModelConfig& config, const BatchLayout& layout, std::vector<WireTensor>& inputs);

const WireTensor* FindTensor(const std::vector<WireTensor>& tensors, std::string_view name);
// Allocates memory that is not set to zero.
Buffer AllocateRaw(size_t bytes);
// Converts the dims `value`, which match `from`, to the form of `to`. Each -1 in `to` is replaced by the size
// that `value` has at the corresponding -1 of `from`. For example, {5,2} with from {-1,2} and to {2,-1}
// becomes {2,5}.
Dims Reshaped(const Dims& value, const Dims& from, const Dims& to);

}  // namespace tern::server
