#include "data/tokenizer/normal_forms.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

#include <string>

#include "data/tokenizer/code_points.h"
#include "data/tokenizer/unicode.h"

namespace tern::data {
namespace {

std::string Text(NormalForm form, std::string_view text) {
  std::string out;
  for (const Change& c : Normalise(form, text)) AppendCodePoint(c.code_point, out);
  return out;
}

std::string Reference(NormalForm form, const std::string& text) {
  const bool compose = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const bool compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const int options = UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* out = nullptr;
  const auto n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &out, static_cast<utf8proc_option_t>(options));
  std::string result(reinterpret_cast<const char*>(out), static_cast<size_t>(n));
  free(out);
  return result;
}

TEST(NormalForms, EqualUtf8proc) {
  for (const NormalForm form : {NormalForm::kNfc, NormalForm::kNfd, NormalForm::kNfkc, NormalForm::kNfkd})
    for (const std::string text :
         {"abc", "éàü Ångström", "e\u0301\u0327 a\u0323\u0301", "\u1100\u1161\u11a8 \ud55c\uad6d",
          "\ufb01 \u2126 \u00bd", "\u1e69\u0323\u0307", "\u0344\u0958", "\u0301\u0300", "Vi\u1ec7t Nam",
          "\u4e00\u3042"}) {
      EXPECT_EQ(Text(form, text), Reference(form, text)) << text;
      EXPECT_TRUE(MayChange(form, text) || Text(form, text) == text) << text;
    }
}

TEST(NormalForms, SaysWhatEachCodePointReplaces) {
  const auto decomposed = Normalise(NormalForm::kNfd, "é");
  ASSERT_EQ(decomposed.size(), 2u);
  EXPECT_EQ(decomposed[0].change, 0);
  EXPECT_EQ(decomposed[1].change, 1);
  const auto composed = Normalise(NormalForm::kNfc, "s\u0323\u0307");
  ASSERT_EQ(composed.size(), 1u);
  EXPECT_EQ(composed[0].code_point, 0x1e69u);
  EXPECT_EQ(composed[0].change, -2);
}

TEST(NormalForms, MayChangeIsNeverWronglyFalse) {
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string text;
    AppendCodePoint(c, text);
    for (const NormalForm form : {NormalForm::kNfc, NormalForm::kNfd, NormalForm::kNfkc, NormalForm::kNfkd})
      ASSERT_TRUE(MayChange(form, text) || Text(form, text) == text) << static_cast<uint32_t>(c);
  }
}

TEST(CodePoints, ReplacesMaximalInvalidParts) {
  EXPECT_EQ(ReplaceInvalidUtf8("a\xe6\xbc"
                               "b"),
            "a\xef\xbf\xbd"
            "b");
  EXPECT_EQ(ReplaceInvalidUtf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(ReplaceInvalidUtf8("\xf0\x9f\x91"), "\xef\xbf\xbd");
  EXPECT_EQ(FindInvalidUtf8("abc\xff"), 3u);
}

TEST(Unicode, LowerCase) {
  char32_t out[2];
  EXPECT_EQ(LowerCase(0x130, out), 2u);
  EXPECT_EQ(LowerCase(U'Ä', out), 1u);
  EXPECT_EQ(out[0], U'ä');
  EXPECT_EQ(LowerCase(0x10d51, out), 1u);
  EXPECT_EQ(out[0], 0x10d71u);
}

}  // namespace
}  // namespace tern::data
