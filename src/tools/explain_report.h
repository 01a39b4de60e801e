// Why each node has the kernel it has.
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
// Writes the keys "explain" and "tuning" into an object that is open.
void WriteExplanation(const Explanation& explanation, data::JsonWriter& json);

}  // namespace tern::tools
