#include <cmath>
#include <random>
#include <regex>

#include "kernels/cpu/simd/level_test_support.h"
#include "runtime/bind/kernel_cases.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

struct Case {
  std::string head;  // op and attributes
  std::vector<std::string> inputs;
  int outputs = 1;
  double tolerance = -1;
};

Case ParseCase(const std::string& text) {
  Case out;
  const size_t colon = text.find(" : ");
  out.head = text.substr(0, colon);
  std::istringstream rest(text.substr(colon + 3));
  for (std::string word; rest >> word;) {
    if (word == "->")
      rest >> out.outputs;
    else if (word[0] == '@')
      out.tolerance = std::stod(word.substr(1));
    else
      out.inputs.push_back(word);
  }
  return out;
}

struct Input {
  DType dtype = DType::kInvalid;
  Dims dims;
  std::string values;  // "(1,2)" if it is a constant
  bool special = false, positive = false, constant = false;
  int64_t below = 0;
};

Input ParseInput(const std::string& word) {
  static const std::regex form(R"((\w+)\[([0-9,]*)\](~|\+|!|<(\d+)|=(\(.*\)))?)");
  std::smatch m;
  Input in;
  if (!std::regex_match(word, m, form)) {
    ADD_FAILURE() << "cannot read " << word;
    return in;
  }
  in.dtype = ParseDType(m[1].str()).value_or(DType::kInvalid);
  std::istringstream list(m[2].str());
  for (std::string d; std::getline(list, d, ',');) in.dims.push_back(std::stoll(d));
  in.special = m[3] == "~", in.positive = m[3] == "+", in.constant = m[3] == "!";
  if (m[4].matched) in.below = std::stoll(m[4].str());
  in.values = m[5].str();
  return in;
}

std::vector<double> Numbers(const Input& in, std::mt19937& random) {
  const double specials[] = {NAN, HUGE_VAL, -HUGE_VAL, 0.0, -0.0, 1e30, -1e30, 1e-30, 100, -100, 0.5, 1, -1};
  std::uniform_real_distribution<double> real(-2, 2), unit(0.1, 3);
  std::vector<double> out;
  for (int64_t i = 0; i < CountOf(in.dims); ++i) {
    double v = in.positive ? unit(random) : real(random);
    if (in.special && i % 2) v = specials[static_cast<size_t>(i / 2) % std::size(specials)];
    if (in.dtype == DType::kBool)
      v = v > 0;
    else if (in.below)
      v = static_cast<double>(static_cast<int64_t>(random() % static_cast<uint64_t>(2 * in.below)) -
                              in.below);
    else if (IsInt(in.dtype))
      v = IsSignedInt(in.dtype) ? std::floor(v * 4) : std::floor(std::fabs(v) * 5);
    out.push_back(v);
  }
  return out;
}

// Rounded to sixteenths, which the text represents exactly.
std::string Constants(const std::vector<double>& numbers) {
  std::string text;
  for (double v : numbers) text += StrCat(text.empty() ? "(" : ",", std::floor(v * 16) / 16);
  return text.empty() ? "()" : text + ")";
}

// Returns the text of the graph and adds the inputs to `feeds`.
std::string GraphOf(const Case& c, DatumList& feeds) {
  std::mt19937 random(7);
  std::string params, constants, arguments, results;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    arguments += i ? ", " : "";
    if (c.inputs[i] == "_") {
      arguments += "_";
      continue;
    }
    Input in = ParseInput(c.inputs[i]);
    if (in.constant) in.values = Constants(Numbers(in, random));
    const std::string type = Describe(in.dtype, in.dims);
    if (!in.values.empty()) {
      constants += StrCat("  #c", i, ": ", type, " = ", in.values, "\n");
      arguments += StrCat("#c", i);
    } else {
      params += StrCat(params.empty() ? "" : ", ", "%x", i, ": ", type);
      arguments += StrCat("%x", i);
      feeds.push_back(Tensor::Of(in.dtype, in.dims, Numbers(in, random)));
    }
  }
  for (int i = 0; i < c.outputs; ++i) results += StrCat(i ? ", " : "", "%y", i);
  const size_t space = c.head.find(' ');
  const std::string op = c.head.substr(0, space),
                    attrs = space == std::string::npos ? "" : c.head.substr(space);
  return StrCat("graph @g(", params, ") -> (", results, ") {\n", constants, "  ", results, " = ", op, "(",
                arguments, ")", attrs, "\n}");
}

double ToleranceOf(const Case& c, DType t) {
  if (c.tolerance >= 0 && t == DType::kF32) return c.tolerance;
  switch (t) {
    case DType::kF64:
      return 1e-12;
    case DType::kF16:
      return 2e-3;
    case DType::kBF16:
      return 1.6e-2;
    default:
      return IsFloat(t) ? 1e-5 : 0;
  }
}

std::string Difference(const Tensor& got, const Tensor& want, double tolerance) {
  if (got.dtype() != want.dtype() || got.dims() != want.dims())
    return StrCat(got.Describe(), " instead of ", want.Describe());
  for (int64_t i = 0; i < want.size(); ++i) {
    const bool numbers = IsFloat(want.dtype());
    const double a = numbers ? LoadDouble(got, i) : static_cast<double>(LoadLong(got, i));
    const double b = numbers ? LoadDouble(want, i) : static_cast<double>(LoadLong(want, i));
    if (a == b || (std::isnan(a) && std::isnan(b)) ||
        std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b)))
      continue;
    return StrCat("element ", i, " is ", a, " instead of ", b);
  }
  return "";
}

std::string Differences(const Case& c, const DatumList& got, const DatumList& want) {
  for (size_t i = 0; i < want.size(); ++i) {
    const std::string difference =
        Difference(got[i].tensor, want[i].tensor, ToleranceOf(c, want[i].tensor.dtype()));
    if (!difference.empty()) return StrCat("output ", i, ": ", difference);
  }
  return "";
}

// Runs twice: with outputs in the arena, then with bound outputs of exactly the right size, which sanitizers
// guard. Returns what is wrong; empty if nothing is.
std::string Failure(const Case& c, Session& session, const DatumList& feeds, const DatumList& want) {
  auto got = session.Run(feeds);
  if (!got.ok()) return got.status().ToString();
  std::string failure = Differences(c, *got, want);
  if (!failure.empty()) return failure;
  DatumList bound;
  for (size_t i = 0; i < want.size(); ++i) {
    bound.push_back(Tensor(want[i].tensor.dtype(), want[i].tensor.dims()));
    if (Status s = session.BindOutput(static_cast<int>(i), bound[i].tensor); !s.ok()) return s.ToString();
  }
  if (Status s = session.Run(); !s.ok()) return s.ToString();
  failure = Differences(c, bound, want);
  if (!failure.empty()) return StrCat("bound ", failure);
  return session.Fallbacks().empty() ? "" : StrCat("no kernel for ", session.Fallbacks()[0].node);
}

void CheckCase(const std::string& text) {
  const Case c = ParseCase(text);
  DatumList feeds;
  auto graph = ParseOrDie(GraphOf(c, feeds));
  ASSERT_TRUE(graph) << text;
  auto want = EvaluateGraph(*graph, feeds);
  ASSERT_TRUE(want.ok()) << text << ": " << want.status().ToString();
  std::string failure;
  const cpu::LevelKeeper keeper;
  for (int level : cpu::LevelsHere())
    for (int threads : {1, 2}) {
      cpu::LimitSimd(static_cast<cpu::SimdLevel>(level));
      SessionOptions options;
      options.threads = threads;
      auto session = SessionOf(graph, options);
      ASSERT_TRUE(session) << text;
      failure = Failure(c, *session, feeds, *want);
      if (failure.empty()) continue;
      ADD_FAILURE() << text << " [level " << level << ", threads " << threads << "]: " << failure;
      return;
    }
}

}  // namespace

void CheckKernels(std::initializer_list<const char*> cases) {
  for (const char* text : cases) CheckCase(text);
}

void CheckKernels(std::initializer_list<const char*> types, std::initializer_list<const char*> cases) {
  for (const char* text : cases)
    for (const char* type : types)
      CheckCase(std::regex_replace(std::string(text), std::regex("\\bT\\b"), type));
}

}  // namespace tern
