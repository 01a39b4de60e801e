#include "server/core/restrictions.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

TEST(Restrictions, AskForTheHeaderOfTheGroup) {
  Restrictions restrictions;
  EXPECT_TRUE(restrictions.empty());
  ASSERT_TRUE(restrictions.Add("health,trace:infer-key=a=b:c", "", "api").ok());
  EXPECT_FALSE(restrictions.empty());
  EXPECT_EQ(restrictions.Missing(ApiGroup::kInference, {}), nullptr);
  EXPECT_EQ(restrictions.Missing(ApiGroup::kNone, {}), nullptr);
  for (const ApiGroup group : {ApiGroup::kHealth, ApiGroup::kTrace}) {
    const auto* secret = restrictions.Missing(group, {{"other", "a=b:c"}});
    ASSERT_NE(secret, nullptr);
    EXPECT_EQ(secret->header, "infer-key");
    for (const char* wrong : {"", "a=b:", "a=b:cc", "a=b:d", "a=b:ca=b:c"})
      EXPECT_NE(restrictions.Missing(group, {{"infer-key", wrong}}), nullptr) << wrong;
    EXPECT_EQ(restrictions.Missing(group, {{"x", "y"}, {"Infer-Key", "a=b:c"}}), nullptr)
        << "names ignore case";
  }
}

TEST(Restrictions, RefuseBadTexts) {
  Restrictions restrictions;
  for (const char* bad : {"", "health", "health:", "health:key", "health:key=", ":key=value", "health:=value",
                          "health:a b=value", "health,,trace:k=v"})
    EXPECT_FALSE(Restrictions().Add(bad, "", "api").ok()) << bad;
  EXPECT_EQ(restrictions.Add("model-reposit,health:k1=v1", "", "api")
                .message()
                .find("unknown restricted api 'model-reposit'"),
            0u);
  ASSERT_TRUE(restrictions.Add("metadata,health:k1=v1", "p-", "protocol").ok());
  EXPECT_EQ(restrictions.Missing(ApiGroup::kHealth, {})->header, "p-k1");
  EXPECT_EQ(restrictions.Add("health:k2=v2", "", "protocol").message(),
            "restricted protocol 'health' can not be specified in multiple config groups");
}

TEST(HeaderPattern, ChoosesHeadersThatBecomeParameters) {
  const auto pattern = HeaderPattern::Compile("(?-i)^my-|exact$");
  ASSERT_TRUE(pattern.ok());
  Request request;
  request.parameters = {{"my-key", std::string("of the body")}, {"kept", int64_t{1}}};
  const Headers headers = {{"my-key", "1"}, {"not-my-key", "2"}, {"is-exact", "3"}, {"My-Case", "4"}};
  ASSERT_TRUE(ForwardHeaders(headers, pattern->get(), request).ok());
  ASSERT_EQ(request.parameters.size(), 3u);
  EXPECT_EQ(std::get<std::string>(*FindParameter(request.parameters, "my-key")), "1");
  EXPECT_EQ(std::get<std::string>(*FindParameter(request.parameters, "is-exact")), "3");
  for (const char* any_case : {"^MY-", "(?i)^MY-"})
    EXPECT_TRUE((*HeaderPattern::Compile(any_case))->Matches("my-key")) << any_case;
  EXPECT_TRUE(ForwardHeaders(headers, nullptr, request).ok());
  EXPECT_FALSE(HeaderPattern::Compile("(").ok());
}

TEST(HeaderPattern, RefusesReservedNames) {
  const auto all = HeaderPattern::Compile(".*");
  ASSERT_TRUE(all.ok());
  Request request;
  EXPECT_EQ(ForwardHeaders({{"sequence_id", "1"}}, all->get(), request).message(),
            "Header 'sequence_id' is reserved for Triton usage and cannot be forwarded.");
  EXPECT_FALSE(ForwardHeaders({{"triton_x", "1"}}, all->get(), request).ok());
  EXPECT_TRUE((*all)->Matches(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace tern::server
