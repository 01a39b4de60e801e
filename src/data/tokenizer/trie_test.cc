#include "data/tokenizer/trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "data/tokenizer/vocabulary.h"

namespace tern::data {
namespace {

TEST(Trie, FindsTheLongestKey) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::map<std::string, uint32_t> keys;
    for (int i = 0; i < 500; ++i) {
      std::string key(1 + random() % 6, '\0');
      for (char& c : key) c = static_cast<char>(random() % (round < 10 ? 3 : 256));
      keys[key] = static_cast<uint32_t>(i);
    }
    std::vector<Trie::Entry> entries;
    for (const auto& [key, value] : keys) entries.push_back({key, value});
    const auto trie = Trie::Build(entries);
    ASSERT_TRUE(trie.ok());
    for (const auto& [key, value] : keys) {
      const std::string text = key + static_cast<char>(random());
      Trie::Match expected;
      for (size_t n = 1; n <= text.size(); ++n)
        if (const auto it = keys.find(text.substr(0, n)); it != keys.end()) expected = {it->second, n};
      const Trie::Match match = trie->Longest(text);
      ASSERT_EQ(match.value, expected.value);
      ASSERT_EQ(match.length, expected.length);
    }
  }
}

TEST(Trie, HasNoKeysAtFirst) {
  EXPECT_EQ(Trie().Longest("abc").length, 0u);
  EXPECT_EQ(Trie::Build({})->Longest("\xff").length, 0u);
}

TEST(Vocabulary, FindsTokensAndIds) {
  Vocabulary v;
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_TRUE(v.Add("token number " + std::to_string(i), i * 7).ok());
  ASSERT_TRUE(v.Add("token number 5", 99999).ok());
  EXPECT_EQ(v.size(), 3000u);
  EXPECT_EQ(v.FindId("token number 2999"), 2999u * 7);
  EXPECT_EQ(v.FindId("token number 5"), 99999u);
  EXPECT_EQ(v.FindId(""), std::nullopt);
  EXPECT_EQ(v.FindToken(14), "token number 2");
  EXPECT_EQ(v.FindToken(15), std::nullopt);
}

}  // namespace
}  // namespace tern::data
