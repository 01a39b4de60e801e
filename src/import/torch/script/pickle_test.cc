#include "import/torch/script/pickle.h"

#include <gtest/gtest.h>

namespace tern::torch::script {
namespace {

using namespace std::string_literals;
using Kind = Pickled::Kind;

Result<Pickle> ParseAll(const std::string& bytes) { return Pickle::Parse(bytes, bytes.size()); }
Result<Pickle> Parse(const std::string& body) { return ParseAll("\x80\x02"s + body + "."); }

TEST(Pickle, ReadsNumbersAndTexts) {
  const auto p = Parse(
      "(K\x05J\xff\xff\xff\xff\x8a\x02\x00\x80G\x3f\xf8\x00\x00\x00\x00\x00\x00\x88NX\x02\x00\x00\x00hit"s);
  ASSERT_TRUE(p.ok()) << p.status().ToString();
  const auto& items = p->root().items;
  ASSERT_EQ(items.size(), 7u);
  EXPECT_EQ(items[0]->number, 5);
  EXPECT_EQ(items[1]->number, -1);
  EXPECT_EQ(items[2]->number, -32768);
  EXPECT_EQ(items[3]->real, 1.5);
  EXPECT_EQ(items[4]->kind, Kind::kBool);
  EXPECT_EQ(items[6]->text, "hi");
}

TEST(Pickle, ReadsObjects) {
  const auto p = Parse("c__torch__.a\nB\n)\x81}X\x01\x00\x00\x00wK\x03sb"s);
  ASSERT_TRUE(p.ok()) << p.status().ToString();
  EXPECT_EQ(p->root().kind, Kind::kObject);
  EXPECT_EQ(p->root().text, "__torch__.a.B");
  ASSERT_EQ(p->root().items.size(), 1u);
  EXPECT_EQ(p->root().items[0]->Find("w")->number, 3);
}

TEST(Pickle, SharesMemoizedPieces) {
  const auto p = Parse("(]q\x07h\x07t"s);
  ASSERT_TRUE(p.ok()) << p.status().ToString();
  EXPECT_EQ(p->root().items[0], p->root().items[1]);
}

TEST(Pickle, RefusesFunctionsByName) {
  const auto p = Parse("cposix\nsystem\nX\x02\x00\x00\x00ls\x85R"s);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.status().message(),
            "pickle, byte 16: the file asks for \"posix.system\", which is not allowed in a model");
}

TEST(Pickle, RefusesOpcodes) {
  EXPECT_EQ(Parse("P1\n").status().message(), "pickle, byte 3: the opcode 80 is not allowed");
  EXPECT_FALSE(Parse("(iposix\nsystem\n").ok());
}

TEST(Pickle, RefusesBrokenStacks) {
  for (const std::string& body :
       {"a"s, "s"s, "R"s, "t"s, "e"s, "b"s, "Q"s, "h\x01"s, "\x85"s, "NN"s, ""s, "(NNu"s, "]Na]s"s})
    EXPECT_FALSE(Parse(body).ok()) << body;
  EXPECT_FALSE(ParseAll("").ok());
  EXPECT_FALSE(ParseAll("\x80\x02"s).ok());
  EXPECT_FALSE(ParseAll("abc").ok());
}

TEST(Pickle, ChecksLengths) {
  EXPECT_EQ(Parse("X\xff\xff\xff\xff"s).status().message(),
            "pickle, byte 7: 4294967295 bytes are needed, but 1 are left");
  EXPECT_FALSE(Parse("\x8a\x09" + std::string(9, 'a')).ok());
}

// Text of one large class name or of one long list, memoized and used again and again.
std::string Repeat(const std::string& text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Pickle, BoundsCopiesOfNames) {
  const std::string name(65536, 'a');
  const std::string once = "(c__torch__.m\n"s + name + "\nq\x01";  // a class
  const std::string again = "h\x01)R";                             // an object of it: 4 bytes, copies 64 KiB
  EXPECT_TRUE(Parse(once + Repeat(again, 100) + "t").ok());
  const auto p = Parse(once + Repeat(again, 4000) + "t");
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.status().message().find("the pickle copies its data "), std::string::npos)
      << p.status().message();
}

TEST(Pickle, BoundsCopiesOfLists) {
  const std::string pairs = "(NN\x86q\x01"s + Repeat("h\x01", 65535) + "l\x85q\x02";  // ([(None, None), …],)
  const std::string dict = "ccollections\nOrderedDict\nq\x03";
  const auto p = Parse("(" + pairs + dict + Repeat("h\x03h\x02R", 200) + "t");
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.status().message().find("the pickle copies its data "), std::string::npos)
      << p.status().message();
}

// An empty list is one byte of the pickle. The file is smaller than the pickle if it is compressed.
TEST(Pickle, BoundsMemoryByTheSizeOfTheFile) {
  const size_t free = (size_t{64} << 20) / sizeof(Pickled);
  const std::string many = "\x80\x02("s + Repeat("]", free + 100'000) + "t.";
  const size_t needed = (100'001 * sizeof(Pickled)) / 32;
  EXPECT_TRUE(Pickle::Parse(many, needed).ok());
  const auto p = Pickle::Parse(many, needed / 2);
  ASSERT_FALSE(p.ok());
  EXPECT_NE(
      p.status().message().find("values, too many for a file of " + std::to_string(needed / 2) + " bytes"),
      std::string::npos)
      << p.status().message();
}

TEST(Pickle, BoundsDims) {
  const std::string storage = "(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00\x30t"s + "Q";
  const std::string rebuild = "ctorch._utils\n_rebuild_tensor_v2\n(";
  const auto tensor = [&](size_t rank) {
    const std::string dims = "(" + Repeat("K\x01", rank) + "t";
    return Parse(rebuild + storage + "K"s + "\0"s + dims + dims + "tR");
  };
  ASSERT_TRUE(tensor(64).ok()) << tensor(64).status().ToString();
  EXPECT_EQ(tensor(64)->root().dims.size(), 64u);
  ASSERT_FALSE(tensor(65).ok());
  EXPECT_NE(tensor(65).status().message().find("a tensor has 65 dims"), std::string::npos);
}

}  // namespace
}  // namespace tern::torch::script
