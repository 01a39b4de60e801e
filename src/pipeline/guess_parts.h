// One function per kind of model. Each function returns the text of a pipeline without its first lines. If
// the model is of another kind, it returns "" and adds a reason.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern::pipeline {

struct GuessInput {
  const Graph& graph;
  std::string folder;  // of the model
  std::vector<std::string> reasons;

  std::string No(std::string reason) {
    reasons.push_back(std::move(reason));
    return {};
  }
  // Returns the first of these files that is in the folder, or "".
  std::string FindFile(const std::vector<std::string>& names) const;
};

std::string GuessText(GuessInput& input);     // ids of tokens
std::string GuessStrings(GuessInput& input);  // strings
std::string GuessImage(GuessInput& input);
std::string GuessAudio(GuessInput& input);

// Returns the steps for scores of classes: softmax and top_k. Omits softmax if a Softmax or sigmoid computes
// the scores.
std::string ClassSteps(const Value& scores);
std::string LabelLine(const GuessInput& input, const Value& scores);
bool IsFloatTensor(const Value& value, int rank);
bool NameContains(const Value& value, std::initializer_list<std::string_view> parts);
// Returns the name in double quotes, because YAML could read a plain name as something else.
std::string Quoted(const std::string& name);

}  // namespace tern::pipeline
