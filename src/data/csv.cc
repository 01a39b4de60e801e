#include "data/csv.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "data/text.h"

namespace tern::data {
namespace {

constexpr char kBlanks = ' ';  // as separator_, means one or more spaces or tabs

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// Reads the cells of a table row by row.
class Scanner {
 public:
  Scanner(std::string_view text, bool numbers) : text_(text), numbers_(numbers), separator_(Separator()) {}

  bool done() const { return at_ >= text_.size(); }
  int64_t line() const { return line_; }

  bool SkipComment() {
    if (!numbers_ || text_[at_] != '#') return false;
    EndLine(std::min(text_.find('\n', at_), text_.size()));
    return true;
  }

  Result<std::vector<std::string>> Row() {
    std::vector<std::string> cells;
    for (;;) {
      if (separator_ == kBlanks) SkipBlanks();
      TERN_ASSIGN(std::string cell, Cell());
      const bool has_more = !AtLineEnd();
      // If blanks separate cells, blanks at the end of a line do not start another cell.
      if (separator_ != kBlanks || !cell.empty() || (cells.empty() && !has_more))
        cells.push_back(std::move(cell));
      if (!has_more) break;
      ++at_;
    }
    EndLine(at_);
    return cells;
  }

 private:
  // Detects the separator in the first line that is not a comment.
  char Separator() const {
    size_t start = 0;
    while (numbers_ && start < text_.size() && text_[start] == '#')
      start = std::min(text_.find('\n', start), text_.size() - 1) + 1;
    bool quoted = false;
    std::string found;
    for (size_t i = start; i < text_.size() && (quoted || text_[i] != '\n'); ++i) {
      quoted ^= text_[i] == '"';
      if (!quoted) found += text_[i];
    }
    for (const char c : {',', ';', '\t'})
      if (found.find(c) != std::string::npos) return c;
    return numbers_ ? kBlanks : ',';
  }

  bool AtLineEnd() const {
    return done() || text_[at_] == '\n' || (text_[at_] == '\r' && text_.substr(at_, 2) == "\r\n") ||
           (text_[at_] == '\r' && at_ + 1 == text_.size());
  }
  bool AtSeparator() const { return separator_ == kBlanks ? IsBlank(text_[at_]) : text_[at_] == separator_; }
  void SkipBlanks() {
    while (!done() && IsBlank(text_[at_]) && text_[at_] != separator_) ++at_;
    while (separator_ == kBlanks && !done() && IsBlank(text_[at_])) ++at_;
  }
  void EndLine(size_t end) {
    at_ = std::min(text_.find('\n', end), text_.size() - 1) + 1;
    ++line_;
  }

  Result<std::string> Cell() {
    if (numbers_) SkipBlanks();
    if (!done() && text_[at_] == '"') return Quoted();
    const size_t start = at_;
    while (!AtLineEnd() && !AtSeparator()) ++at_;
    std::string_view cell = text_.substr(start, at_ - start);
    while (numbers_ && !cell.empty() && IsBlank(cell.back())) cell.remove_suffix(1);
    return std::string(cell);
  }

  Result<std::string> Quoted() {
    const int64_t first = line_;
    std::string cell;
    for (++at_; !done(); ++at_) {
      line_ += text_[at_] == '\n';
      if (text_[at_] != '"') {
        cell += text_[at_];
      } else if (text_.substr(at_, 2) == "\"\"") {
        cell += text_[at_++];
      } else {
        ++at_;
        if (numbers_ && separator_ != kBlanks) SkipBlanks();
        if (AtLineEnd() || AtSeparator()) return cell;
        return InvalidArgument("line ", line_, ": '", std::string(1, text_[at_]),
                               "' follows the closing quote of a cell; a separator must follow it");
      }
    }
    return InvalidArgument("line ", first, ": the quote that opens a cell is never closed");
  }

  std::string_view text_;
  const bool numbers_;
  const char separator_;
  size_t at_ = 0;
  int64_t line_ = 1;
};

std::string Trimmed(const std::string& cell) {
  const size_t first = cell.find_first_not_of(" \t"), last = cell.find_last_not_of(" \t");
  return first == std::string::npos ? "" : cell.substr(first, last - first + 1);
}

bool IsNumber(const std::string& cell) {
  double v = 0;
  return cell == "true" || cell == "false" || ParseDouble(cell, v);
}

bool IsEmptyRow(const std::vector<std::string>& row) { return row.size() == 1 && row[0].empty(); }

// Returns whether the cell is empty or a text that programs write for a missing number, such as "NA".
bool IsMissing(const std::string& cell) {
  const std::string lower = LowerCase(cell);
  constexpr std::string_view kMarks[] = {"", "na", "n/a", "<na>", "null", "nil", "none", "-", "--", "?", "."};
  return std::find(std::begin(kMarks), std::end(kMarks), lower) != std::end(kMarks);
}

bool LooksLikeHeader(const std::vector<std::string>& row) {
  return std::none_of(row.begin(), row.end(), IsNumber) && !std::all_of(row.begin(), row.end(), IsMissing);
}

Status CheckLengths(const CsvTable& table) {
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const size_t wanted = table.rows[0].size(), got = table.rows[i].size();
    if (got != wanted)
      return InvalidArgument("row ", i + 1, " (line ", table.lines[i], ") has ", got,
                             got == 1 ? " cell" : " cells", ", but row 1 (line ", table.lines[0], ") has ",
                             wanted);
  }
  return {};
}

Status StoreCell(const CsvTable& table, size_t row, size_t column, Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) {
    t.data<std::string>()[i] = table.rows[row][column];
    return {};
  }
  const std::string cell = Trimmed(table.rows[row][column]);
  if (!cell.empty()) {
    if (StoreNumber(cell, t, i)) return {};
    return InvalidArgument(table.Place(row, column), " is '", cell, "', not a valid ", DTypeName(t.dtype()));
  }
  if (IsFloat(t.dtype())) {
    StoreDouble(t, i, std::nan(""));
    if (std::isnan(LoadDouble(t, i))) return {};
  }
  return InvalidArgument(table.Place(row, column), " is empty, and ", DTypeName(t.dtype()), " has no NaN");
}

Result<Tensor> CellsOf(const CsvTable& table, size_t first, size_t count, DType wanted) {
  if (IsComplex(wanted)) return Unsupported("complex numbers in text; use .npy");
  return Guard([&]() -> Result<Tensor> {
    Tensor t(wanted == DType::kInvalid ? DType::kF32 : wanted,
             {static_cast<int64_t>(table.rows.size()), static_cast<int64_t>(count)});
    for (size_t row = 0; row < table.rows.size(); ++row)
      for (size_t c = 0; c < count; ++c)
        TERN_TRY(StoreCell(table, row, first + c, t, static_cast<int64_t>(row * count + c)));
    return t;
  });
}

}  // namespace

int64_t CsvTable::columns() const {
  return static_cast<int64_t>(!header.empty() ? header.size() : rows.empty() ? 0 : rows[0].size());
}

std::string CsvTable::Place(size_t row, size_t column) const {
  std::string place = StrCat("row ", row + 1, " (line ", lines[row], "), column ", column + 1);
  if (!header.empty()) place += StrCat(" ('", header[column], "')");
  return place;
}

void TakeHeader(CsvTable& table) {
  for (const std::string& cell : table.rows.front()) table.header.push_back(Trimmed(cell));
  table.rows.erase(table.rows.begin());
  table.lines.erase(table.lines.begin());
}

Result<CsvTable> ParseCsv(std::string_view text, bool numbers) {
  if (StartsWith(text, "\xef\xbb\xbf")) text.remove_prefix(3);  // spreadsheets write a byte order mark
  return Guard([&]() -> Result<CsvTable> {
    CsvTable table;
    Scanner scanner(text, numbers);
    while (!scanner.done()) {
      if (scanner.SkipComment()) continue;
      table.lines.push_back(scanner.line());
      TERN_ASSIGN(std::vector<std::string> row, scanner.Row());
      table.rows.push_back(std::move(row));
    }
    const bool lines = !numbers && !table.rows.empty() && table.rows[0].size() == 1;
    while (!lines && !table.rows.empty() && IsEmptyRow(table.rows.back())) {
      table.rows.pop_back();
      table.lines.pop_back();
    }
    TERN_TRY(CheckLengths(table));
    if (!numbers || table.rows.empty() || !LooksLikeHeader(table.rows[0])) return table;
    TakeHeader(table);
    if (table.rows.empty()) return InvalidArgument("the table has a header but no rows");
    return table;
  });
}

Result<Tensor> CsvTensor(const CsvTable& table, DType wanted) {
  return CellsOf(table, 0, static_cast<size_t>(table.columns()), wanted);
}

Result<Tensor> CsvColumn(const CsvTable& table, size_t column, DType wanted) {
  return CellsOf(table, column, 1, wanted);
}

}  // namespace tern::data
