// Reports why each node uses its kernel.
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
// Writes the keys "explain" and "tuning" into an open object.
void WriteExplanation(const Explanation& explanation, data::JsonWriter& json);

}  // namespace tern::tools
