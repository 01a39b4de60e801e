#include "data/text.h"

namespace tern::data {
namespace {

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) words.push_back(std::move(word));
    word.clear();
  };
  bool comment = false;
  for (const char c : text) {
    comment = (comment || c == '#') && c != '\n';
    const bool blank = c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == ';';
    if (blank || comment)
      end();
    else
      word += c;
  }
  end();
  return words;
}

Status StoreWord(const std::string& word, Tensor& t, int64_t i) {
  const auto bad = [&] {
    return InvalidArgument("word ", i + 1, " is '", word, "', which is no ", DTypeName(t.dtype()));
  };
  if (IsFloat(t.dtype())) {
    double v = 0;
    if (!ParseDouble(word, v)) return bad();
    StoreDouble(t, i, v);
    return {};
  }
  int64_t v = 0;
  if (word == "true" || word == "false")
    v = word == "true";
  else if (!ParseInt(word, v))
    return bad();
  StoreLong(t, i, v);
  const bool negative_lost = v < 0 && (IsUnsignedInt(t.dtype()) || t.dtype() == DType::kBool);
  return LoadLong(t, i) == v && !negative_lost ? Status() : bad();
}

}  // namespace

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
    const std::vector<std::string> items = strings ? SplitLines(text) : SplitWords(text);
    Tensor t(wanted == DType::kInvalid ? DType::kF32 : wanted, {static_cast<int64_t>(items.size())});
    for (size_t i = 0; i < items.size(); ++i) {
      if (strings)
        t.data<std::string>()[i] = items[i];
      else
        TERN_TRY(StoreWord(items[i], t, static_cast<int64_t>(i)));
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
      AppendPiece(out, LoadDouble(t, i));
    else if (IsFloat(t.dtype()))
      AppendPiece(out, static_cast<float>(LoadDouble(t, i)));
    else if (t.dtype() == DType::kU64)
      AppendPiece(out, static_cast<uint64_t>(LoadLong(t, i)));
    else
      AppendPiece(out, LoadLong(t, i));
    out += (i + 1) % row ? ' ' : '\n';
  }
  return out;
}

}  // namespace tern::data
