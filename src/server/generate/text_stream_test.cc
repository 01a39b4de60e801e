#include "server/generate/text_stream.h"

#include "server/generate/test_support.h"

namespace tern::server {
namespace {

std::vector<std::string> Pieces(const std::string& text, std::vector<std::string> stop,
                                bool* stopped = nullptr) {
  TextStream stream(ByteTokenizer(), std::move(stop), {'a', 'b'});
  std::vector<std::string> out;
  for (const char c : text) {
    const auto piece = stream.Add(static_cast<unsigned char>(c));
    EXPECT_TRUE(piece.ok());
    out.push_back(*piece);
    if (stream.stopped()) break;
  }
  out.push_back(*stream.Finish());
  if (stopped) *stopped = stream.stopped();
  return out;
}

TEST(TextStream, WaitsForWholeCharacters) {
  EXPECT_EQ(Pieces("h\xC3\xA9!", {}), (std::vector<std::string>{"h", "", "é", "!", ""}));
  EXPECT_EQ(Pieces("\xF0\x9F\x98\x80", {}), (std::vector<std::string>{"", "", "", "😀", ""}));
}

TEST(TextStream, ReplacesBytesThatAreNoCharacter) {
  EXPECT_EQ(Join(Pieces("a\xFF\xFF\xFF\xFF\xFFz", {}), ""),
            "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
  EXPECT_EQ(Pieces("\xC3", {}), (std::vector<std::string>{"", "\xEF\xBF\xBD"}));
}

TEST(TextStream, LeavesOutSpecialTokens) {
  TextStream stream(ByteTokenizer(), {}, {});
  EXPECT_EQ(*stream.Add(256), "");
  EXPECT_EQ(*stream.Add('x'), "x");
}

TEST(TextStream, EndsAtAStopText) {
  bool stopped = false;
  EXPECT_EQ(Pieces("one\n\ntwo", {"\n\n"}, &stopped), (std::vector<std::string>{"o", "n", "e", "", "", ""}));
  EXPECT_TRUE(stopped);
  EXPECT_EQ(Pieces("a\nb", {"\n\n"}, &stopped), (std::vector<std::string>{"a", "", "\nb", ""}));
  EXPECT_FALSE(stopped);
  EXPECT_EQ(Join(Pieces("ab\n", {"\n\n"}), ""), "ab\n");
  EXPECT_EQ(Join(Pieces("xaab", {"aab"}), ""), "x");
}

}  // namespace
}  // namespace tern::server
