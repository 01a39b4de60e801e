#include "data/csv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/text.h"

namespace tern::data {
namespace {

using Rows = std::vector<std::vector<std::string>>;

CsvTable Parsed(std::string_view text, bool numbers = true) {
  auto table = ParseCsv(text, numbers);
  EXPECT_TRUE(table.ok()) << table.status().ToString();
  return table.ok() ? *table : CsvTable();
}

std::string ErrorOf(std::string_view text, DType type) {
  auto table = ParseCsv(text, type != DType::kString);
  if (!table.ok()) return table.status().message();
  auto t = CsvTensor(*table, type);
  return t.ok() ? "no error" : t.status().message();
}

TEST(Csv, RowsAreLinesAndEmptyCellsStay) {
  const CsvTable table = Parsed("5.1,,1.4,0.2\n4.9,3.0,1.4,0.2\r\n4.7,3.2,,\n,,,\n");
  EXPECT_EQ(table.rows, (Rows{{"5.1", "", "1.4", "0.2"},
                              {"4.9", "3.0", "1.4", "0.2"},
                              {"4.7", "3.2", "", ""},
                              {"", "", "", ""}}));
  auto t = CsvTensor(table, DType::kF32);
  ASSERT_TRUE(t.ok());
  EXPECT_EQ(t->dims(), (Dims{4, 4}));
  EXPECT_TRUE(std::isnan(LoadDouble(*t, 1)));
  EXPECT_FLOAT_EQ(t->data<float>()[2], 1.4f);
}

TEST(Csv, AnEmptyCellNeedsNaN) {
  EXPECT_EQ(ErrorOf("1,2\n3,\n", DType::kI64), "row 2 (line 2), column 2 is empty, and i64 has no NaN");
  EXPECT_EQ(ErrorOf("a,b\n1,\n", DType::kBool),
            "row 1 (line 2), column 2 ('b') is empty, and bool has no NaN");
  EXPECT_EQ(ErrorOf("1,\n", DType::kF16), "no error");
}

TEST(Csv, KeepsLargeUnsignedIntegers) {
  const std::string text = "9223372036854775808\n18446744073709551615\n7\n";
  auto t = CsvTensor(Parsed(text), DType::kU64);
  ASSERT_TRUE(t.ok()) << t.status().ToString();
  EXPECT_EQ(FormatText(*t), text);
  auto back = ParseText(text, DType::kU64);
  ASSERT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(FormatText(*back), text);
  for (const char* bad : {"-1", "18446744073709551616"})
    EXPECT_EQ(ErrorOf(bad, DType::kU64), StrCat("row 1 (line 1), column 1 is '", bad, "', not a valid u64"));
}

TEST(Csv, RaggedRows) {
  EXPECT_EQ(ErrorOf("1,2,3\n4,5\n", DType::kF32), "row 2 (line 2) has 2 cells, but row 1 (line 1) has 3");
  EXPECT_EQ(ErrorOf("# numbers\n1,2\n\n3,4\n", DType::kF32),
            "row 2 (line 3) has 1 cell, but row 1 (line 2) has 2");
  EXPECT_EQ(ErrorOf("a,b\nc\n", DType::kString), "row 2 (line 2) has 1 cell, but row 1 (line 1) has 2");
}

TEST(Csv, Headers) {
  const CsvTable table = Parsed("sepal length, width\n1, 2\n3,4\n\n");
  EXPECT_EQ(table.header, (std::vector<std::string>{"sepal length", "width"}));
  EXPECT_EQ(table.rows, (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_TRUE(Parsed("nan,inf\n1,2\n").header.empty()) << "nan and inf are numbers";
  EXPECT_EQ(Parsed(",NA,width\n1,2,3\n").header, (std::vector<std::string>{"", "NA", "width"}));
  EXPECT_EQ(ErrorOf("a,b\n", DType::kF32), "the table has a header but no rows");
  EXPECT_EQ(ErrorOf("a,b\n1,x\n", DType::kF32), "row 1 (line 2), column 2 ('b') is 'x', not a valid f32");
  EXPECT_EQ(ErrorOf("1,two\n", DType::kF32), "row 1 (line 1), column 2 is 'two', not a valid f32");
  EXPECT_EQ(ErrorOf("300\n", DType::kU8), "row 1 (line 1), column 1 is '300', not a valid u8");
}

TEST(Csv, ARowOfMissingNumbersIsNotAHeader) {
  for (const char* mark : {"NA", "n/a", "<NA>", "null", "NULL", "None", "-", "?"}) {
    const std::string row = StrCat(mark, ",", mark, "\n");
    EXPECT_EQ(Parsed(row + "1,2\n").rows.size(), 2u) << mark;
    EXPECT_EQ(ErrorOf(row + "1,2\n", DType::kF32),
              StrCat("row 1 (line 1), column 1 is '", mark, "', not a valid f32"));
  }
  EXPECT_EQ(Parsed("NA,\n1,2\n").rows, (Rows{{"NA", ""}, {"1", "2"}}));
}

TEST(Csv, Separators) {
  EXPECT_EQ(Parsed("1;2\n3;4\n").rows, (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(Parsed("1\t\t2\n3\t4\t\n").rows, (Rows{{"1", "", "2"}, {"3", "4", ""}}));
  EXPECT_EQ(Parsed("1  2 \n 3 4").rows, (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(Parsed("").rows, Rows{});
  EXPECT_EQ(Parsed("\xef\xbb\xbf"
                   "1,2")
                .rows,
            (Rows{{"1", "2"}}));
}

TEST(Csv, QuotedCells) {
  const CsvTable table = Parsed("\"a, b\",\"say \"\"so\"\"\"\r\n\"two\nlines\", kept \n", false);
  EXPECT_EQ(table.rows, (Rows{{"a, b", "say \"so\""}, {"two\nlines", " kept "}}));
  EXPECT_EQ(table.lines, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(Parsed("a\n\nb\n", false).rows, (Rows{{"a"}, {""}, {"b"}}));
  EXPECT_EQ(Parsed("\"1\",\"2\"\n").rows, (Rows{{"1", "2"}}));
  EXPECT_EQ(ErrorOf("x,\"y\n", DType::kString), "line 1: the quote that opens a cell is never closed");
  EXPECT_EQ(ErrorOf("x,\"y\"z\n", DType::kString),
            "line 1: 'z' follows the closing quote of a cell; a separator must follow it");
}

TEST(Csv, Columns) {
  CsvTable table = Parsed("age,name\n7,\"Ann, B\"\n8,Carl\n", false);
  TakeHeader(table);
  auto age = CsvColumn(table, 0, DType::kI64), name = CsvColumn(table, 1, DType::kString);
  ASSERT_TRUE(age.ok() && name.ok());
  EXPECT_EQ(age->dims(), (Dims{2, 1}));
  EXPECT_EQ(LoadLong(*age, 1), 8);
  EXPECT_EQ(name->data<std::string>()[0], "Ann, B");
}

}  // namespace
}  // namespace tern::data
