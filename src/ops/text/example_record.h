// Reads serialized tf.Example records.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace tern {

struct FeatureValues {
  DType kind = DType::kInvalid;  // f32, i64 or string; only the list of this type is set
  std::vector<float> floats;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  size_t size() const { return floats.size() + integers.size() + texts.size(); }
};

// Returns the values of a feature, or nothing if the record has no such feature or no list of values for it.
// If the feature occurs several times, the last one counts. Fails if the record is damaged.
Result<std::optional<FeatureValues>> FindFeature(std::string_view record, std::string_view key);

}  // namespace tern
