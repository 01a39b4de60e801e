#include "import/mindir/raw_data.h"

#include "import/common/wire.h"

namespace tern::mindir {
namespace {

using import::WireField;
using import::WireReader;
using import::WriteVarint;

constexpr size_t kLarge = size_t{4} << 10;                    // bytes; smaller data stays in the message
constexpr uint64_t kGraph = 7, kParameter = 3, kRawData = 9;  // of ModelProto, GraphProto and TensorProto

class Splitter {
 public:
  explicit Splitter(std::string_view model) : model_(model) {}
  SplitModel split;

  bool Model() {
    WireReader reader(model_);
    WireField field;
    bool seen = false;
    while (!reader.done()) {
      if (!reader.Next(field)) return false;
      if (field.number != kGraph) {
        split.stripped += field.encoded;
        continue;
      }
      std::string graph;
      if (seen || !field.bytes || !Graph(field.contents, graph)) return false;
      seen = true;
      Write(kGraph, graph, split.stripped);
    }
    return !split.spans.empty();
  }

 private:
  static void Write(uint64_t number, const std::string& contents, std::string& out) {
    WriteVarint(number << 3 | 2, out);
    WriteVarint(contents.size(), out);
    out += contents;
  }

  bool Graph(std::string_view message, std::string& out) {
    WireReader reader(message);
    WireField field;
    int parameters = 0;
    while (!reader.done()) {
      if (!reader.Next(field)) return false;
      if (field.number != kParameter) {
        out += field.encoded;
        continue;
      }
      std::string tensor;
      if (!field.bytes || !Tensor(field.contents, parameters++, tensor)) return false;
      Write(kParameter, tensor, out);
    }
    return true;
  }

  bool Tensor(std::string_view message, int parameter, std::string& out) {
    WireReader reader(message);
    WireField field;
    bool seen = false;
    while (!reader.done()) {
      if (!reader.Next(field)) return false;
      const bool data = field.number == kRawData;
      if (data && (seen || !field.bytes)) return false;
      seen |= data;
      if (data && field.contents.size() >= kLarge)
        split.spans.push_back(
            {parameter, static_cast<size_t>(field.contents.data() - model_.data()), field.contents.size()});
      else
        out += field.encoded;
    }
    return true;
  }

  std::string_view model_;
};

}  // namespace

std::optional<SplitModel> SplitRawData(std::string_view model) {
  Splitter splitter(model);
  if (!splitter.Model()) return std::nullopt;
  return std::move(splitter.split);
}

}  // namespace tern::mindir
