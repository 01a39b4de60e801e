// Parses the bodies of predict, classify and regress requests.
#pragma once
#include <string>
#include <string_view>

#include "server/core/control.h"
#include "server/dialects/tfs/example.h"

namespace tern::server::tfs {

// The form of a predict request, and of its response.
enum class Layout {
  kRow,     // "instances": one value or object per item
  kColumn,  // "inputs": one value per input
};

// Where the parts of a body are. A body is read twice, because its keys may have any order, and the signature
// must be known before the other parts are read.
struct BodyParts {
  std::string signature;
  size_t instances = 0, inputs = 0, examples = 0, context = 0;  // positions in the text; 0: absent
};

// Checks that the body is a JSON object, and finds its parts.
Status FindParts(std::string_view body, const Limits& limits, BodyParts& parts);
// Reads the inputs of a predict request into `request`. `config` is that of the signature.
Status ReadPredict(std::string_view body, const BodyParts& parts, const ModelConfig& config,
                   const Limits& limits, Request& request, Layout& layout);
// Reads the examples of a classify or regress request.
Status ReadExamples(std::string_view body, const BodyParts& parts, const Limits& limits, Examples& examples);

}  // namespace tern::server::tfs
