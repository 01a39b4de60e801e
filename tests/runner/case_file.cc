#include "case_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>

#include "core/type.h"
#include "ir/op_def.h"
#include "operand.h"
#include "rand.h"

namespace tern {
namespace {

// Splits at spaces outside quotes and brackets. Ends at a #, which begins a comment.
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
  std::string list = call.substr(5, call.size() - 6);
  list.erase(std::remove(list.begin(), list.end(), ' '), list.end());
  const auto parts = SplitText(list, ',');
  double numbers[3] = {0, kRandLow, kRandHigh};
  for (size_t i = 0; i < parts.size(); ++i)
    if (parts.size() % 2 == 0 || parts.size() > 3 || !ParseDouble(parts[i], numbers[i]))
      return InvalidArgument("expected rand(SEED) or rand(SEED,LOW,HIGH), got ", call);
  return Tensor::Of(dtype, dims,
                    RandomNumbers(CountOf(dims), static_cast<uint64_t>(numbers[0]), numbers[1], numbers[2]));
}

Result<Tensor> ValueOf(const std::string& type_text, const std::vector<std::string>& words, size_t from) {
  TERN_ASSIGN(Type type, Type::Parse(type_text));
  if (!type.tensor() || !type.shape.fully_known())
    return InvalidArgument(type_text, " is not a tensor type with known dims");
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

struct Line {
  int number;
  std::string text;
};

// For `foreach T f32 f16`, `name` is "T" and `values` are "f32" and "f16", which replace T.
struct Loop {
  std::string name;
  std::vector<std::string> values;
};

std::string Replaced(std::string text, const std::vector<Loop>& loops, const std::vector<size_t>& at) {
  for (size_t i = 0; i < loops.size(); ++i)
    text = std::regex_replace(text, std::regex("\\b" + loops[i].name + "\\b"), loops[i].values[at[i]]);
  return text;
}

// Advances `at` to the next combination of values. Returns false after the last one.
bool Next(const std::vector<Loop>& loops, std::vector<size_t>& at) {
  for (size_t i = loops.size(); i-- > 0;) {
    if (++at[i] < loops[i].values.size()) return true;
    at[i] = 0;
  }
  return false;
}

// Returns the choices of an attribute such as "Unary.kind".
Result<std::vector<std::string>> ChoicesOf(const std::string& text) {
  const size_t dot = text.find('.');
  const OpDef* op = FindOp(text.substr(0, dot));
  if (!op || dot == std::string::npos) return InvalidArgument("expected OP.ATTRIBUTE, got ", text);
  for (const Attrs::Entry& entry : op->defaults.List())
    if (entry.name == text.substr(dot + 1) && !entry.choices.empty())
      return std::vector<std::string>(entry.choices.begin(), entry.choices.end());
  return InvalidArgument(text, " has no choices");
}

// Parses `foreach NAME VALUE…` or `foreach NAME of OP.ATTRIBUTE but VALUE…`.
Result<Loop> ParseLoop(const std::vector<std::string>& words) {
  if (words.size() < 3) return InvalidArgument("expected `foreach NAME VALUE…`");
  Loop loop{words[1], {words.begin() + 2, words.end()}};
  if (words[2] != "of" || words.size() < 4) return loop;
  TERN_ASSIGN(loop.values, ChoicesOf(words[3]));
  if (words.size() > 4 && (words[4] != "but" || words.size() == 5))
    return InvalidArgument("expected `foreach NAME of OP.ATTRIBUTE but VALUE…`, got '", words[4], "' after ",
                           words[3]);
  for (size_t i = 5; i < words.size(); ++i) {
    const auto found = std::find(loop.values.begin(), loop.values.end(), words[i]);
    if (found == loop.values.end()) return InvalidArgument("'", words[i], "' is not a choice of ", words[3]);
    loop.values.erase(found);
  }
  return loop;
}

class CaseReader {
 public:
  explicit CaseReader(const std::string& path) : path_(path) {}

  Result<std::vector<Case>> Read() {
    std::ifstream file(path_);
    if (!file) return IoError("cannot open '", path_, "'");
    std::vector<Line> lines;
    for (std::string text; std::getline(file, text);)
      lines.push_back({static_cast<int>(lines.size()) + 1, text});
    for (size_t i = 0; i < lines.size();) {
      Status status = TakeNext(lines, i);
      if (!status.ok()) return InvalidArgument(Place(), ": ", status.message());
    }
    if (open_) return InvalidArgument(Place(), ": the last case has no `end`");
    return cases_;
  }

 private:
  std::string Place() const { return StrCat(std::filesystem::path(path_).filename().string(), ":", line_); }

  // Reads a line, or a block of lines that `foreach` repeats. Advances i to the line after it.
  Status TakeNext(const std::vector<Line>& lines, size_t& i) {
    if (Words(lines[i].text).empty() || Words(lines[i].text)[0] != "foreach") return Take(lines[i++]);
    for (; i < lines.size(); ++i) {
      const auto words = Words(lines[i].text);
      line_ = lines[i].number;
      if (!words.empty() && words[0] != "foreach") break;
      if (words.empty()) continue;
      TERN_ASSIGN(Loop loop, ParseLoop(words));
      loops_.push_back(std::move(loop));
    }
    std::vector<Line> block;
    for (bool ended = false; !ended; ++i) {
      if (i == lines.size()) return InvalidArgument("foreach has no `end`");
      block.push_back(lines[i]);
      ended = Words(lines[i].text) == std::vector<std::string>{"end"};
    }
    return Repeat(block);
  }

  Status Repeat(const std::vector<Line>& block) {
    const std::string op = op_, attrs = attrs_;
    at_.assign(loops_.size(), 0);
    do {
      for (const Line& line : block) TERN_TRY(Take({line.number, Replaced(line.text, loops_, at_)}));
    } while (Next(loops_, at_));
    loops_.clear();
    op_ = op;
    attrs_ = attrs;
    return {};
  }

  Status Take(const Line& line) {
    line_ = line.number;
    const auto words = Words(line.text);
    if (words.empty()) return {};
    if (words[0] == "op") return TakeOp(words);
    if (words[0] == "sweep") return Sweep(words);
    if (std::isupper(words[0][0])) return TakeOneLine(line.text);
    if (words[0] == "end") {
      if (open_) Add(std::move(now_));
      now_ = Case();
      open_ = false;
      return {};
    }
    open_ = true;
    return TakePart(words);
  }

  Status TakeOp(const std::vector<std::string>& words) {
    if (words.size() < 2) return InvalidArgument("expected `op NAME ATTRIBUTE=VALUE…`");
    op_ = words[1];
    attrs_.clear();
    for (size_t i = 2; i < words.size(); ++i) attrs_ += (i > 2 ? ", " : "") + words[i];
    return {};
  }

  Status TakeOneLine(const std::string& text) {
    if (text.find(" : ") == std::string::npos) return InvalidArgument("expected OP {ATTRIBUTES} : OPERANDS…");
    TERN_ASSIGN(Case c, ParseOneLine(text));
    c.place = Place();
    cases_.push_back(std::move(c));
    return {};
  }

  void Add(Case c) {
    c.place = Place();
    c.op = op_;
    c.attrs = attrs_;
    cases_.push_back(std::move(c));
  }

  Status TakePart(const std::vector<std::string>& words) {
    const std::string& what = words[0];
    const auto need = [&](size_t count) { return words.size() >= count; };
    if (what == "absent") {
      now_.inputs.push_back({"", {}, false});
    } else if (what == "in" || what == "const") {
      if (!need(4) || words[3] != "=") return InvalidArgument("expected `", what, " NAME TYPE = VALUES`");
      TERN_ASSIGN(Tensor t, ValueOf(words[2], words, 4));
      now_.inputs.push_back({words[1], std::move(t), what == "const"});
    } else if (what == "out") {
      if (!need(4) || words[3] != "=") return InvalidArgument("expected `out NAME TYPE = VALUES`");
      CaseOutput out{words[1], {}};
      if (!need(5) || words[4] != "reference") {
        TERN_ASSIGN(out.value, ValueOf(words[2], words, 4));
      }
      now_.outputs.push_back(std::move(out));
    } else if (what == "fails") {
      if (!need(2)) return InvalidArgument("expected `fails \"part of the message\"`");
      now_.fails = words[1].substr(1, words[1].size() - 2);
    } else if (what == "tolerance") {
      if (!need(2) || !ParseDouble(words[1], now_.tolerance))
        return InvalidArgument("expected `tolerance NUMBER`");
    } else if (what == "by_reference") {
      return TakeByReference(words);
    } else {
      return InvalidArgument("unknown word '", what, "'");
    }
    return {};
  }

  // Parses `by_reference VALUE… "reason"`, which says that the reference evaluator runs this case, because no
  // kernel can. If values are given, this holds only while the enclosing `foreach` has one of these values.
  Status TakeByReference(const std::vector<std::string>& words) {
    const std::string& reason = words.back();
    if (words.size() < 2 || reason.size() < 3 || reason.front() != '"')
      return InvalidArgument("expected `by_reference VALUE… \"reason\"`");
    bool holds = words.size() == 2;
    for (size_t w = 1; w + 1 < words.size(); ++w) {
      bool known = false;
      for (size_t i = 0; i < loops_.size(); ++i) {
        const auto& values = loops_[i].values;
        known |= std::find(values.begin(), values.end(), words[w]) != values.end();
        holds |= values[at_[i]] == words[w];
      }
      if (!known) return InvalidArgument("'", words[w], "' is not a value of the enclosing foreach");
    }
    if (holds) now_.by_reference = reason.substr(1, reason.size() - 2);
    return {};
  }

  Status Sweep(const std::vector<std::string>& words) {
    for (size_t i = 1; i + 1 < words.size(); ++i) {
      Case c;
      TERN_ASSIGN(Tensor t, ValueOf(words[i], words, words.size() - 1));
      c.inputs.push_back({"x", std::move(t), false});
      c.outputs.push_back({"y", {}});
      Add(std::move(c));
    }
    return {};
  }

  std::string path_, op_, attrs_;
  std::vector<Loop> loops_;  // the loops that enclose the current line
  std::vector<size_t> at_;   // index of the current value of each loop
  Case now_;                 // the case that the lines since the last `end` define
  bool open_ = false;        // whether there are lines since the last `end`
  std::vector<Case> cases_;
  int line_ = 0;
};

}  // namespace

Result<std::vector<Case>> ReadCases(const std::string& path) { return CaseReader(path).Read(); }

}  // namespace tern
