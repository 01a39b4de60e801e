// Parses TensorFlow's messages, in binary or text form.
#pragma once
#include <memory>
#include <string_view>

#include "import/tensorflow/messages.h"
#include "load/format.h"

namespace tern::tensorflow {

// A parsed file contains a SavedModel or a graph. The field of the other kind is empty.
struct ParsedModel {
  pb::SavedModel saved_model;
  pb::GraphDef graph;
  bool saved = false;
};

Result<std::shared_ptr<ParsedModel>> ParseModel(const Buffer& bytes);

}  // namespace tern::tensorflow
