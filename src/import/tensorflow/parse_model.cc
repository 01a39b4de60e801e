#include "import/tensorflow/parse_model.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>

#include "base/strings.h"
#include "import/common/block_stream.h"
#include "import/common/text_nesting.h"

namespace tern::tensorflow {
namespace {

constexpr size_t kMaxMessage = INT32_MAX;  // protobuf's own limit, in bytes
constexpr int kMaxNesting = 100;

// Keeps the first error of the text parser.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& text) override {
    if (message.empty()) message = StrCat("line ", line + 1, ", column ", column + 1, ": ", text);
  }
  std::string message;
};

Status ParseText(std::string_view bytes, google::protobuf::Message& message) {
  if (const int depth = import::NestingOf(bytes); depth > kMaxNesting)
    return InvalidModel("messages are nested ", depth, " deep; the limit is ", kMaxNesting);
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.AllowUnknownExtension(true);
  parser.SetRecursionLimit(kMaxNesting);
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (parser.Parse(&stream, &message)) return {};
  return InvalidModel("the text is not a TensorFlow model: ", error.message);
}

// The binary messages start with the tag of their first field, which is no printable character.
bool IsText(std::string_view bytes) {
  return std::all_of(bytes.begin(),
                     bytes.begin() + static_cast<ptrdiff_t>(std::min<size_t>(bytes.size(), 64)),
                     [](char c) { return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r'); });
}

}  // namespace

Result<std::shared_ptr<ParsedModel>> ParseModel(const Buffer& buffer) {
  const std::string_view bytes(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  if (bytes.size() > kMaxMessage)
    return InvalidModel("the file has ", bytes.size(), " bytes, but a protobuf message has at most ",
                        kMaxMessage, " bytes");
  auto model = std::make_shared<ParsedModel>();
  if (IsText(bytes)) {
    const std::string_view start = bytes.substr(0, 4096);
    model->saved = start.find("saved_model_schema_version") != std::string_view::npos;
    google::protobuf::Message& message =
        model->saved ? static_cast<google::protobuf::Message&>(model->saved_model) : model->graph;
    TERN_TRY(ParseText(bytes, message));
    return model;
  }
  // A SavedModel starts with its schema version, which is a number. A graph starts with a node.
  model->saved = bytes[0] == '\x08' || bytes[0] == '\x12';
  google::protobuf::Message& message =
      model->saved ? static_cast<google::protobuf::Message&>(model->saved_model) : model->graph;
  if (!import::ParseMapped(bytes, kMaxNesting, message))
    return InvalidModel("not a TensorFlow model: the protobuf message of ", bytes.size(),
                        " bytes is broken or cut short");
  return model;
}

}  // namespace tern::tensorflow
