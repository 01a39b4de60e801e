#include "ops/matmul/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace tern {
namespace {

bool Letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Reads "b...ij" as "b*ij"; removes spaces.
Result<std::string> ReadTerm(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.compare(i, 3, "...") == 0) {
      if (out.find('*') != std::string::npos)
        return InvalidModel("einsum term '", text, "' has two ellipses");
      out += '*';
      i += 2;
    } else if (Letter(text[i])) {
      out += text[i];
    } else {
      return InvalidModel("einsum term '", text, "' has an unexpected '", text[i], "'");
    }
  }
  return out;
}

// Returns the output of an equation without "->": the ellipsis, then all letters that occur once, in
// alphabetical order.
std::string ImpliedOutput(const std::vector<std::string>& inputs) {
  std::map<char, int> counts;
  for (const auto& term : inputs)
    for (char c : term) ++counts[c];
  std::string out = counts.count('*') ? "*" : "";
  for (const auto& [c, count] : counts)
    if (c != '*' && count == 1) out += c;
  return out;
}

Status CheckOutput(const EinsumEquation& e) {
  for (size_t i = 0; i < e.output.size(); ++i) {
    const char c = e.output[i];
    if (e.output.find(c, i + 1) != std::string::npos)
      return InvalidModel("einsum output '", e.output, "' names '", c, "' twice");
    const bool known = std::any_of(e.inputs.begin(), e.inputs.end(),
                                   [&](const auto& t) { return t.find(c) != std::string::npos; });
    if (!known && c != '*') return InvalidModel("einsum output names '", c, "', which no input has");
  }
  return {};
}

}  // namespace

Result<EinsumEquation> ParseEinsum(const std::string& equation) {
  const size_t arrow = equation.find("->");
  EinsumEquation e;
  for (const std::string& term : SplitText(equation.substr(0, arrow), ',')) {
    TERN_ASSIGN(std::string labels, ReadTerm(term));
    e.inputs.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    e.output = ImpliedOutput(e.inputs);
    return e;
  }
  TERN_ASSIGN(e.output, ReadTerm(equation.substr(arrow + 2)));
  TERN_TRY(CheckOutput(e));
  return e;
}

namespace {

std::vector<int> Expand(const std::string& term, int ellipsis) {
  std::vector<int> labels;
  for (char c : term) {
    if (c != '*')
      labels.push_back(c);
    else
      for (int k = ellipsis; k-- > 0;) labels.push_back(-1 - k);
  }
  return labels;
}

}  // namespace

Result<EinsumLabels> LabelAxes(const EinsumEquation& e, const std::vector<int>& ranks) {
  if (e.inputs.size() != ranks.size())
    return InvalidModel("einsum equation has ", e.inputs.size(), " terms for ", ranks.size(), " inputs");
  EinsumLabels out;
  int widest = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const bool has_ellipsis = e.inputs[i].find('*') != std::string::npos;
    const int letters = static_cast<int>(e.inputs[i].size()) - (has_ellipsis ? 1 : 0);
    if (has_ellipsis ? ranks[i] < letters : ranks[i] != letters)
      return InvalidModel("einsum term ", i, " names ", letters, " axes, but the input has rank ", ranks[i]);
    widest = std::max(widest, ranks[i] - letters);
    out.inputs.push_back(Expand(e.inputs[i], ranks[i] - letters));
  }
  out.output = Expand(e.output, widest);
  return out;
}

}  // namespace tern
