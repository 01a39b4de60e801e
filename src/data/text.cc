#include "data/text.h"

namespace tern::data {
namespace {

struct Words {
  std::vector<std::string> list;
  int64_t gap_line = 0;  // the first line with a comma that has no word before it; 0 if there is none
};

Words SplitWords(std::string_view text) {
  Words words;
  std::string word;
  // `empty` means that there is no word since the last comma or the line's start.
  bool comment = false, empty = true;
  int64_t line = 1;
  for (const char c : text) {
    comment = (comment || c == '#') && c != '\n';
    const bool comma = !comment && (c == ',' || c == ';');
    const bool blank = comma || comment || c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) word += c;
    if (blank && !word.empty()) {
      words.list.push_back(std::move(word));
      word.clear();
      empty = false;
    }
    if (comma && empty && !words.gap_line) words.gap_line = line;
    empty |= comma || c == '\n';
    line += c == '\n';
  }
  if (!word.empty()) words.list.push_back(std::move(word));
  return words;
}

Result<std::vector<std::string>> Items(std::string_view text, bool strings) {
  if (strings) return SplitLines(text);
  Words words = SplitWords(text);
  if (!words.gap_line) return std::move(words.list);
  return InvalidArgument("line ", words.gap_line, " has a comma without a number before it");
}

}  // namespace

bool StoreNumber(const std::string& word, Tensor& t, int64_t i) {
  if (IsFloat(t.dtype())) {
    double v = 0;
    if (!ParseDouble(word, v)) return false;
    StoreDouble(t, i, v);
    return true;
  }
  if (t.dtype() == DType::kU64 && ParseUnsigned(word, t.data<uint64_t>()[i])) return true;
  int64_t v = 0;
  if (word == "true" || word == "false")
    v = word == "true";
  else if (!ParseInt(word, v))
    return false;
  StoreLong(t, i, v);
  const bool negative_lost = v < 0 && (IsUnsignedInt(t.dtype()) || t.dtype() == DType::kBool);
  return LoadLong(t, i) == v && !negative_lost;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (EndsWith(line, "\r")) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

Result<Tensor> ParseText(std::string_view text, DType wanted) {
  if (IsComplex(wanted)) return Unsupported("complex numbers in text; use .npy");
  return Guard([&]() -> Result<Tensor> {
    const bool strings = wanted == DType::kString;
    TERN_ASSIGN(const std::vector<std::string> items, Items(text, strings));
    Tensor t(wanted == DType::kInvalid ? DType::kF32 : wanted, {static_cast<int64_t>(items.size())});
    for (size_t i = 0; i < items.size(); ++i) {
      if (strings)
        t.data<std::string>()[i] = items[i];
      else if (!StoreNumber(items[i], t, static_cast<int64_t>(i)))
        return InvalidArgument("word ", i + 1, " is '", items[i], "', not a valid ", DTypeName(t.dtype()));
    }
    return t;
  });
}

std::string FormatText(const Tensor& tensor) {
  const Tensor t = tensor.Contiguous();
  std::string out;
  const int64_t row = t.rank() > 1 && t.dtype() != DType::kString ? t.dim(-1) : 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    if (t.dtype() == DType::kString)
      out += t.data<std::string>()[i];
    else if (t.dtype() == DType::kC64)
      out += StrCat(t.data<float>()[2 * i], " ", t.data<float>()[2 * i + 1]);
    else if (t.dtype() == DType::kC128)
      out += StrCat(t.data<double>()[2 * i], " ", t.data<double>()[2 * i + 1]);
    else if (t.dtype() == DType::kF64)
      AppendText(out, LoadDouble(t, i));
    else if (IsFloat(t.dtype()))
      AppendText(out, static_cast<float>(LoadDouble(t, i)));
    else if (t.dtype() == DType::kU64)
      AppendText(out, static_cast<uint64_t>(LoadLong(t, i)));
    else
      AppendText(out, LoadLong(t, i));
    out += (i + 1) % row ? ' ' : '\n';
  }
  return out;
}

}  // namespace tern::data
