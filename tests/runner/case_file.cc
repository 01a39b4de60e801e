#include "case_file.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "core/type.h"

namespace tern {
namespace {

// Splits at spaces outside quotes and brackets.
std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  int depth = 0;
  bool quoted = false;
  for (char c : line) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '(')) ++depth;
    if (!quoted && (c == ']' || c == ')')) --depth;
    if (c == '#' && !quoted) break;
    if (c == ' ' && !quoted && depth == 0) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Result<Tensor> RandomTensor(DType dtype, const Dims& dims, const std::string& call) {
  const auto parts = SplitText(call.substr(5, call.size() - 6), ',');
  double numbers[3];
  for (size_t i = 0; i < 3; ++i)
    if (parts.size() != 3 || !ParseDouble(parts[i], numbers[i]))
      return InvalidArgument("expected rand(SEED,LOW,HIGH), got ", call);
  std::mt19937_64 random(static_cast<uint64_t>(numbers[0]));
  std::vector<double> values;
  for (int64_t i = 0; i < CountOf(dims); ++i) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    values.push_back(numbers[1] + unit * (numbers[2] - numbers[1]));
  }
  return Tensor::Of(dtype, dims, values);
}

Result<Tensor> ValueOf(const std::string& type_text, const std::vector<std::string>& words, size_t from) {
  TERN_ASSIGN(Type type, Type::Parse(type_text));
  if (!type.tensor() || !type.shape.fully_known()) return InvalidArgument(type_text, " is not a known shape");
  const Dims dims = type.shape.Concrete();
  if (from < words.size() && StartsWith(words[from], "rand("))
    return RandomTensor(type.dtype, dims, words[from]);
  if (static_cast<int64_t>(words.size() - from) != CountOf(dims))
    return InvalidArgument(type_text, " needs ", CountOf(dims), " elements, has ", words.size() - from);
  Tensor t(type.dtype, dims);
  for (size_t i = from; i < words.size(); ++i) {
    const auto at = static_cast<int64_t>(i - from);
    const std::string& w = words[i];
    double d = 0;
    int64_t n = 0;
    if (type.dtype == DType::kString)
      t.data<std::string>()[at] = w.size() > 1 && w[0] == '"' ? w.substr(1, w.size() - 2) : w;
    else if (IsFloat(type.dtype) && (ParseDouble(w, d)))
      StoreDouble(t, at, d);
    else if (!IsFloat(type.dtype) && ParseInt(w, n))
      StoreLong(t, at, n);
    else if (w == "true" || w == "false")
      StoreLong(t, at, w == "true");
    else
      return InvalidArgument("'", w, "' is not a ", DTypeName(type.dtype));
  }
  return t;
}

class CaseReader {
 public:
  explicit CaseReader(const std::string& path) : path_(path) {}

  Result<std::vector<Case>> Read() {
    std::ifstream file(path_);
    if (!file) return IoError("cannot open '", path_, "'");
    std::string line;
    while (std::getline(file, line)) {
      ++line_;
      const auto words = Words(line);
      if (words.empty()) continue;
      Status status = words[0] == "foreach" ? StartLoop(words)
                      : loop_types_.empty() ? Take(words)
                                            : TakeEach(words);
      if (!status.ok()) return InvalidArgument(Place(), ": ", status.message());
    }
    if (!loop_types_.empty() || now_.size()) return InvalidArgument(Place(), ": the last case has no `end`");
    return cases_;
  }

 private:
  std::string Place() const { return StrCat(std::filesystem::path(path_).filename().string(), ":", line_); }

  Status StartLoop(const std::vector<std::string>& words) {
    if (words.size() < 3) return InvalidArgument("foreach NAME TYPE…");
    loop_name_ = words[1];
    loop_types_.assign(words.begin() + 2, words.end());
    now_.assign(loop_types_.size(), Case());
    return {};
  }

  // Repeats the line for every type of the loop.
  Status TakeEach(const std::vector<std::string>& words) {
    for (size_t i = 0; i < loop_types_.size(); ++i) {
      auto copy = words;
      for (std::string& w : copy)
        if (StartsWith(w, loop_name_ + "[")) w = loop_types_[i] + w.substr(loop_name_.size());
      TERN_TRY(TakeInto(copy, now_[i]));
    }
    if (words[0] == "end") {
      loop_types_.clear();
      Flush();
    }
    return {};
  }

  Status Take(const std::vector<std::string>& words) {
    if (words[0] == "op") {
      op_ = words.at(1);
      attrs_.clear();
      for (size_t i = 2; i < words.size(); ++i) attrs_ += (i > 2 ? ", " : "") + words[i];
      return {};
    }
    if (words[0] == "sweep") return Sweep(words);
    if (words[0] == "end") {
      Flush();
      return {};
    }
    if (now_.empty()) now_.resize(1);
    return TakeInto(words, now_[0]);
  }

  void Flush() {
    for (Case& c : now_) {
      c.place = Place();
      c.op = op_;
      c.attrs = attrs_;
      cases_.push_back(std::move(c));
    }
    now_.clear();
  }

  Status TakeInto(const std::vector<std::string>& words, Case& c) {
    const std::string& what = words[0];
    if (what == "end") return {};
    if (what == "absent") {
      c.inputs.push_back({"", {}, false});
    } else if (what == "in" || what == "const") {
      if (words.size() < 4 || words[3] != "=") return InvalidArgument(what, " NAME TYPE = VALUES");
      TERN_ASSIGN(Tensor t, ValueOf(words[2], words, 4));
      c.inputs.push_back({words[1], std::move(t), what == "const"});
    } else if (what == "out") {
      if (words.size() < 4 || words[3] != "=") return InvalidArgument("out NAME TYPE = VALUES");
      CaseOutput out{words[1], words[2], {}};
      if (words.size() < 5 || words[4] != "reference") {
        TERN_ASSIGN(out.value, ValueOf(words[2], words, 4));
      }
      c.outputs.push_back(std::move(out));
    } else if (what == "fails") {
      c.fails = words.at(1).substr(1, words[1].size() - 2);
    } else if (what == "tolerance") {
      if (!ParseDouble(words.at(1), c.tolerance)) return InvalidArgument("tolerance NUMBER");
    } else {
      return InvalidArgument("unknown word '", what, "'");
    }
    return {};
  }

  Status Sweep(const std::vector<std::string>& words) {
    for (size_t i = 1; i + 1 < words.size(); ++i) {
      Case c;
      TERN_ASSIGN(Tensor t, ValueOf(words[i], words, words.size() - 1));
      c.inputs.push_back({"x", std::move(t), false});
      c.outputs.push_back({"y", "", {}});
      now_.push_back(std::move(c));
    }
    Flush();
    return {};
  }

  std::string path_, op_, attrs_, loop_name_;
  std::vector<std::string> loop_types_;
  std::vector<Case> now_, cases_;
  int line_ = 0;
};

}  // namespace

Result<std::vector<Case>> ReadCases(const std::string& path) { return CaseReader(path).Read(); }

}  // namespace tern
