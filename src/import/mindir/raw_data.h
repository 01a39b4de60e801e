// Splits a serialized model into a small message, which protobuf parses, and the data of its large
// parameters. So protobuf does not copy the data.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tern::mindir {

// The raw_data of a parameter of the main graph, as a range of the serialized model.
struct RawSpan {
  int parameter = 0;
  size_t offset = 0, size = 0;
};

struct SplitModel {
  std::string stripped;  // a serialized ModelProto without the data of the spans
  std::vector<RawSpan> spans;
};

// Returns nullopt if there is no large data, if the message is broken, or if protobuf must merge fields. The
// caller must then let protobuf parse the entire message.
std::optional<SplitModel> SplitRawData(std::string_view model);

}  // namespace tern::mindir
