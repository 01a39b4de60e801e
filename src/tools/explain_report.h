// Reports for each node why its kernel was chosen, for `tern profile --explain`.
#pragma once
#include <string>
#include <vector>

#include "data/json_writer.h"
#include "runtime/tune/tuner.h"

namespace tern::tools {

struct Explanation {
  std::vector<Choice> choices;  // in the order of the plan
  TuneReport tuning;
};

std::string ExplainText(const Explanation& explanation);
// Writes the keys "explain" and "tuning" with their values. The caller has begun a JSON object and
// ends it.
void WriteExplanation(const Explanation& explanation, data::JsonWriter& json);

}  // namespace tern::tools
