#include "server/access/rights.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

// The matrix of docs/guide/security.md.
TEST(Rights, OfRoles) {
  const std::pair<Right, const char*> rows[] = {{Right::kHealth, "infer,observe,shared-memory,admin"},
                                                {Right::kAny, "infer,observe,shared-memory,admin"},
                                                {Right::kDescribe, "infer,observe,admin"},
                                                {Right::kInfer, "infer,admin"},
                                                {Right::kObserve, "observe,admin"},
                                                {Right::kSharedMemory, "shared-memory,admin"},
                                                {Right::kAdmin, "admin"}};
  static_assert(std::size(rows) == kRights);
  for (const auto& [right, roles] : rows) {
    Roles permitted = 0;
    for (const Role role : {kRoleInfer, kRoleObserve, kRoleSharedMemory, kRoleAdmin})
      if (Permits(role, right)) permitted |= role;
    EXPECT_EQ(RoleNames(permitted), roles) << RightName(right);
  }
  EXPECT_FALSE(Permits(0, Right::kDescribe));
}

TEST(Rights, OperationsWithoutAGroupNeedAnAdmin) {
  EXPECT_EQ(RightOf(ApiGroup::kNone, false, false), Right::kAdmin);
  EXPECT_EQ(RightOf(ApiGroup::kModelRepository, true, true), Right::kAdmin);
  EXPECT_EQ(RightOf(ApiGroup::kModelRepository, false, false), Right::kObserve);
  EXPECT_EQ(RightOf(ApiGroup::kHealth, false, true), Right::kDescribe) << "it tells whether a model exists";
}

TEST(Rights, Patterns) {
  for (const auto& [name, pattern] : {std::pair("bert", "bert"),
                                      {"bert-base", "bert-*"},
                                      {"", "*"},
                                      {"abc", "*"},
                                      {"a.b.c", "a*b*c"},
                                      {"aab", "a*ab"},
                                      {"x", "**x**"}})
    EXPECT_TRUE(MatchesPattern(name, pattern)) << name << " " << pattern;
  for (const auto& [name, pattern] : {std::pair("Bert", "bert"),
                                      {"bert2", "bert"},
                                      {"ber", "bert"},
                                      {"", "bert"},
                                      {"bert", ""},
                                      {"abd", "a*c"},
                                      {"a?b", "a[?]b"},
                                      {"ab", "a?"}})
    EXPECT_FALSE(MatchesPattern(name, pattern)) << name << " " << pattern;
  const std::string name(5000, 'a'), pattern = "*a*a*a*a*a*a*a*b";
  EXPECT_FALSE(MatchesPattern(name, pattern)) << "takes little time";
  EXPECT_FALSE(MatchesPattern(std::string_view("a\0b", 3), "a"));
}

}  // namespace
}  // namespace tern::server
