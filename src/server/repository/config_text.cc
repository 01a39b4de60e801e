// Reads config.pbtxt, which is in protobuf's text format.
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include "model_config.pb.h"
#include "server/repository/config.h"
#include "server/repository/config_limits.h"

namespace tern::server {
namespace {

// Stores the first error. Lines and columns of protobuf start at 0, those of messages at 1.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (!status.ok()) return;
    status = line < 0 ? InvalidArgument("model configuration: ", message)
                      : InvalidArgument("model configuration, line ", line + 1, ", column ", column + 1, ": ",
                                        message);
  }
  Status status;
};

}  // namespace

Status ParseConfigText(std::string_view text, ConfigMessage& out) {
  out.Clear();
  TERN_TRY(CheckConfigSize(text));
  return Guard([&]() -> Status {
    google::protobuf::TextFormat::Parser parser;
    FirstError errors;
    parser.RecordErrorsTo(&errors);
    parser.SetRecursionLimit(kConfigDepth);
    google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    const bool parsed = parser.Parse(&stream, &out);
    TERN_TRY(errors.status);
    if (!parsed) return InvalidArgument("model configuration: the text is not valid");
    return CheckConfigStrings(out);
  });
}

}  // namespace tern::server
