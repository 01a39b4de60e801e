#include "operand.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <regex>
#include <sstream>

#include "core/type.h"

namespace tern {
namespace {

struct Operand {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::string values;  // "1,-1" for the operand i64[2]=(1,-1)
  bool given = false, special = false, positive = false, constant = false;
  int64_t below = 0;
};

Result<Operand> ParseOperand(const std::string& word) {
  static const std::regex form(R"((\w+\[[0-9,]*\])(~|\+|!|<(\d+)|=\((.*)\))?)");
  std::smatch m;
  if (!std::regex_match(word, m, form)) return InvalidArgument("'", word, "' is not an operand");
  TERN_ASSIGN(const Type type, Type::Parse(m[1].str()));
  Operand out;
  out.dtype = type.dtype;
  out.dims = type.shape.Concrete();
  out.special = m[2] == "~", out.positive = m[2] == "+", out.constant = m[2] == "!";
  if (m[3].matched) out.below = std::stoll(m[3].str());
  out.given = m[4].matched;
  out.values = m[4].str();
  return out;
}

double Number(const Operand& o, int64_t i, std::mt19937& random) {
  constexpr double kInf = HUGE_VAL;
  static const double kSpecials[] = {NAN, kInf, -kInf, 0.0, -0.0, 1e30, -1e30, 1e-30, 100, -100, 0.5, 1, -1};
  std::uniform_real_distribution<double> real(-2, 2), unit(0.1, 3);
  double v = o.positive ? unit(random) : real(random);
  if (o.special && i % 2) v = kSpecials[static_cast<size_t>(i / 2) % std::size(kSpecials)];
  if (o.dtype == DType::kBool) return v > 0;
  if (o.below)
    return static_cast<double>(static_cast<int64_t>(random() % static_cast<uint64_t>(2 * o.below)) - o.below);
  if (IsInt(o.dtype)) return IsSignedInt(o.dtype) ? std::floor(v * 4) : std::floor(std::fabs(v) * 5);
  return v;
}

Result<Tensor> ValueOf(const Operand& o, const std::string& word, std::mt19937& random) {
  std::vector<double> numbers;
  if (o.given && !o.values.empty())
    for (const std::string& text : SplitText(o.values, ',')) {
      numbers.push_back(0);
      if (!ParseDouble(text, numbers.back())) return InvalidArgument("'", text, "' is not a number");
    }
  for (int64_t i = 0; !o.given && i < CountOf(o.dims); ++i) {
    numbers.push_back(Number(o, i, random));
    if (o.constant) numbers.back() = std::floor(numbers.back() * 16) / 16;  // keeps the graph's text short
  }
  if (static_cast<int64_t>(numbers.size()) != CountOf(o.dims))
    return InvalidArgument("'", word, "' has ", numbers.size(), " elements, needs ", CountOf(o.dims));
  return Tensor::Of(o.dtype, o.dims, numbers);
}

Status TakeOperand(const std::string& word, std::mt19937& random, Case& c) {
  CaseInput in{StrCat("x", c.inputs.size()), {}, false};
  if (word != "_") {
    TERN_ASSIGN(const Operand operand, ParseOperand(word));
    TERN_ASSIGN(in.value, ValueOf(operand, word, random));
    in.constant = operand.constant || operand.given;
  }
  c.inputs.push_back(std::move(in));
  return {};
}

}  // namespace

Result<Case> ParseOneLine(const std::string& text) {
  const size_t colon = text.find(" : "), brace = text.find(" {");
  Case c;
  c.op = text.substr(0, std::min(colon, brace));
  if (brace < colon) c.attrs = text.substr(brace + 2, colon - brace - 3);
  c.operands = text.substr(colon + 3);
  std::mt19937 random(7);
  std::istringstream rest(c.operands);
  int outputs = 1;
  for (std::string word; rest >> word;) {
    if (word == "->") {
      if (!(rest >> outputs)) return InvalidArgument("expected the number of outputs after ->");
    } else if (word[0] == '@') {
      if (!ParseDouble(word.substr(1), c.tolerance))
        return InvalidArgument("expected @TOLERANCE, got ", word);
    } else {
      TERN_TRY(TakeOperand(word, random, c));
    }
  }
  for (int i = 0; i < outputs; ++i) c.outputs.push_back({StrCat("y", i), {}});
  return c;
}

}  // namespace tern
