#include "import/tensorflow/vocabulary.h"

#include "base/strings.h"

namespace tern::tensorflow {
namespace {

constexpr int64_t kLine = -2, kNumber = -1;

std::vector<std::string> LinesOf(std::string_view text, int64_t limit) {
  std::vector<std::string> lines = SplitText(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (limit >= 0 && static_cast<size_t>(limit) < lines.size()) lines.resize(static_cast<size_t>(limit));
  for (std::string& line : lines)
    if (!line.empty() && line.back() == '\r') line.pop_back();
  return lines;
}

Result<std::string> Field(const std::string& line, size_t number, int64_t part, const Vocabulary& format) {
  if (part == kLine) return line;
  if (part == kNumber) return StrCat(static_cast<int64_t>(number) + format.offset);
  const auto columns = SplitText(line, format.delimiter.empty() ? '\t' : format.delimiter[0]);
  if (part < 0 || static_cast<size_t>(part) >= columns.size())
    return InvalidModel("line ", number + 1, " has ", columns.size(), " columns, but column ", part,
                        " is needed");
  return columns[static_cast<size_t>(part)];
}

Result<Tensor> Column(const std::vector<std::string>& lines, int64_t part, const Vocabulary& format,
                      DType dtype) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < lines.size(); ++i) {
    TERN_ASSIGN(std::string text, Field(lines[i], i, part, format));
    texts.push_back(std::move(text));
  }
  const auto count = static_cast<int64_t>(texts.size());
  if (dtype == DType::kString) return Tensor::Strings({count}, texts);
  Tensor t(dtype, {count});
  for (int64_t i = 0; i < count; ++i) {
    const std::string& text = texts[static_cast<size_t>(i)];
    int64_t integer = 0;
    double number = 0;
    if (IsInt(dtype) ? !ParseInt(text, integer) : !ParseDouble(text, number))
      return InvalidModel("'", text, "' in line ", i + 1, " is not a number");
    if (IsInt(dtype))
      StoreLong(t, i, integer);
    else
      StoreDouble(t, i, number);
  }
  return t;
}

}  // namespace

Result<std::pair<Tensor, Tensor>> ReadVocabulary(const std::string& path, const Vocabulary& format, DType key,
                                                 DType value) {
  TERN_ASSIGN(const Buffer file, Buffer::MapFile(path));
  const auto lines = LinesOf({reinterpret_cast<const char*>(file.data()), file.size()}, format.size);
  auto keys = Column(lines, format.key, format, key);
  if (!keys.ok()) return keys.TakeStatus().While(StrCat("reading '", path, "'"));
  auto values = Column(lines, format.value, format, value);
  if (!values.ok()) return values.TakeStatus().While(StrCat("reading '", path, "'"));
  return std::pair<Tensor, Tensor>{std::move(*keys), std::move(*values)};
}

}  // namespace tern::tensorflow
