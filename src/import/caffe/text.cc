#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "import/caffe/network.h"
#include "import/common/text_nesting.h"

namespace tern::caffe {
namespace {

constexpr int kMaxNesting = 32;                 // Caffe's own messages have at most 6 levels
constexpr size_t kMaxShown = 10;                // how many unknown fields a message lists
constexpr size_t kMaxText = size_t{256} << 20;  // bytes

// A message of TextFormat such as: Message type "tern_caffe.ConvolutionParameter" has no field named "x".
struct Unknown {
  std::string message, field;
};

bool ParseUnknown(const std::string& text, Unknown& unknown) {
  constexpr std::string_view kStart = "Message type \"tern_caffe.", kMiddle = "\" has no field named \"";
  const size_t middle = text.find(kMiddle);
  if (!StartsWith(text, kStart) || middle == std::string::npos) return false;
  unknown.message = text.substr(kStart.size(), middle - kStart.size());
  unknown.field = text.substr(middle + kMiddle.size());
  unknown.field.resize(std::min(unknown.field.size(), unknown.field.find('"')));
  return true;
}

class Collector : public google::protobuf::io::ErrorCollector {
 public:
  // TextFormat counts lines and columns from 0. Line -1 means that the place is unknown.
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& text) override {
    if (!error.empty()) return;
    error = line < 0 ? text : StrCat("line ", line + 1, ", column ", column + 1, ": ", text);
  }
  void AddWarning(int line, google::protobuf::io::ColumnNumber, const std::string& text) override {
    Unknown unknown;
    if (!ParseUnknown(text, unknown) || unknown.message == "Ignored") return;
    const bool parameters = unknown.message.find("Layer") == std::string::npos &&
                            unknown.message != "NetParameter" && unknown.message != "ParamSpec";
    (parameters ? refused : ignored)
        .push_back(StrCat("'", unknown.field, "' of ", unknown.message, " (line ", line + 1, ")"));
  }

  std::string error;
  std::vector<std::string> refused, ignored;
};

std::string Listed(std::vector<std::string> fields) {
  const size_t all = fields.size();
  if (all > kMaxShown) fields.resize(kMaxShown);
  return all > kMaxShown ? StrCat(Join(fields, ", "), " and ", all - kMaxShown, " more") : Join(fields, ", ");
}

}  // namespace

Result<pb::NetParameter> ParseText(std::string_view text, std::vector<std::string>& warnings) {
  if (StartsWith(text, "\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.size() > kMaxText)
    return InvalidModel("a network of ", text.size(), " bytes of text is too large");
  if (const int depth = import::NestingOf(text); depth > kMaxNesting)
    return InvalidModel("messages are nested ", depth, " deep; the limit is ", kMaxNesting);
  pb::NetParameter net;
  Collector collector;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaxNesting + 1);
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&input, &net)) return InvalidModel("the text is not a Caffe network: ", collector.error);
  if (!collector.refused.empty())
    return Unsupported("the network has ", collector.refused.size(),
                       " parameter(s) that Tern does not know: ", Listed(std::move(collector.refused)));
  if (!collector.ignored.empty())
    warnings.push_back(StrCat("unknown fields are ignored: ", Listed(std::move(collector.ignored))));
  return net;
}

Result<pb::NetParameter> ParseMessage(const std::string& bytes) {
  pb::NetParameter net;
  google::protobuf::io::CodedInputStream coded(reinterpret_cast<const uint8_t*>(bytes.data()),
                                               static_cast<int>(std::min<size_t>(bytes.size(), INT32_MAX)));
  coded.SetRecursionLimit(kMaxNesting);
  if (!net.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return InvalidModel("the network in the file is not a valid protobuf message");
  return net;
}

}  // namespace tern::caffe
