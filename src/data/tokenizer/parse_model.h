// Reads the field `model` of a tokenizer.json.
#pragma once
#include <memory>

#include "data/tokenizer/json_node.h"
#include "data/tokenizer/model.h"

namespace tern::data {

Result<std::unique_ptr<Model>> ParseModel(const JsonNode& node);

}  // namespace tern::data
