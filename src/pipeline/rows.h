// Rows: the model's inputs for one item (a picture, a sound, a text). A row has batch size 1. A sound that is
// cut into frames has one row per frame. Every other item has one row.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "core/tensor.h"
#include "data/image/to_tensor.h"
#include "pipeline/binding.h"

namespace tern::data {
class Tokenizer;
}

namespace tern::pipeline {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

// How positions in the model's input correspond to the original item.
struct ItemInfo {
  data::Placement placement;  // of a picture
  double seconds_per_frame = 0, seconds = 0;
};

struct ItemRows {
  std::vector<NamedTensors> rows;
  ItemInfo info;
  size_t decoded_bytes = 0;  // of the picture or sound before other steps
};

// Limits the bytes of all decoded items of a request, and of all its results. Small files can decode to much
// memory.
inline constexpr size_t kMaxRequestBytes = size_t{1} << 30;
// Adds `bytes` to `total`. Fails with kInvalidArgument above kMaxRequestBytes, because a retry would fail
// too.
Status CountBytes(size_t bytes, size_t& total);
// Reads each item with `read`. An error names the item if there are several. Counts the bytes of the items.
// Checks `stop` before each item.
Result<std::vector<ItemRows>> ReadItems(const std::vector<std::string_view>& items, const Stop& stop,
                                        const std::function<Result<ItemRows>(std::string_view)>& read);

// Reads the items of one input. The bytes of an item are a file or a text. Thread-safe.
class InputReader {
 public:
  virtual ~InputReader() = default;
  // If there are several items, errors name the item. Returns kCancelled if `stop` fires between two items.
  virtual Result<std::vector<ItemRows>> Read(const std::vector<std::string_view>& items,
                                             const Stop& stop) const = 0;
  // The tokenizer of texts, with the truncation and padding that Read applies; null for other inputs.
  virtual std::shared_ptr<const data::Tokenizer> tokenizer() const { return nullptr; }
};

Result<std::shared_ptr<const InputReader>> MakeImageReader(const Spec& spec, const BoundInput& input);
Result<std::shared_ptr<const InputReader>> MakeTextReader(const Spec& spec, const BoundInput& input);
Result<std::shared_ptr<const InputReader>> MakeAudioReader(const Spec& spec, const BoundInput& input);
Result<std::shared_ptr<const InputReader>> MakeReader(const Spec& spec, const BoundInput& input);

}  // namespace tern::pipeline
