#include "server/rollout/policy.h"

#include <gtest/gtest.h>

#include "data/json_writer.h"
#include "server/rollout/request.h"

namespace tern::server {
namespace {

TEST(Policy, KeepsDefaultsAndReadsEverything) {
  const auto defaults = ParsePolicy("{}");
  ASSERT_TRUE(defaults.ok());
  EXPECT_EQ(defaults->steps, (std::vector<double>{0, 10, 50}));
  const auto policy = ParsePolicy(R"({"steps":[5,25.5],"step_seconds":1,"step_requests":7,"mirror":50,
    "mirror_per_second":0,"mirror_bytes":1000,"control_per_second":0,"confidence":0.95,"max_error_rate":null,
    "max_disagreement":0.05,"max_slowdown":1.5,"compare":"top1","absolute_tolerance":0,
    "relative_tolerance":0.5,"hang_seconds":2,"key":"user","promote":false,"timeout_seconds":60,
    "on_timeout":"rollback"})");
  ASSERT_TRUE(policy.ok()) << policy.status().message();
  EXPECT_EQ(policy->steps, (std::vector<double>{5, 25.5}));
  EXPECT_FALSE(policy->max_error_rate);
  EXPECT_EQ(policy->compare, CompareMode::kTop1);
  EXPECT_EQ(policy->on_timeout, OnTimeout::kRollback);
  data::JsonWriter json;
  WritePolicy(*policy, json);
  const auto again = ParsePolicy(json.text());
  ASSERT_TRUE(again.ok()) << again.status().message();
  data::JsonWriter twice;
  WritePolicy(*again, twice);
  EXPECT_EQ(json.text(), twice.text());
  const auto merged = ParsePolicy(R"({"mirror":10})", *policy);
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->steps, policy->steps);
  EXPECT_EQ(merged->mirror, 10);
}

TEST(Policy, RefusesMistakes) {
  for (const auto& [text, message] : {
           std::pair("[]", "expected a JSON object"),
           {"{", "missing a name for object member at 1"},
           {R"({"steps":[]})", "'steps' must be an array of at least one percentage"},
           {R"({"steps":[10,10]})", "'steps' must ascend, but 10 follows 10"},
           {R"({"steps":[100]})", "a step must leave requests to the stable version"},
           {R"({"steps":[-1]})", "'steps' is -1; it must be from 0 to 100"},
           {R"({"steps":"10"})", "'steps' must be an array of percentages"},
           {R"({"confidence":1})", "'confidence' is 1; it must be from 0.5 to 0.999999"},
           {R"({"max_error_rate":0})", "'max_error_rate' is 0"},
           {R"({"max_error_rate":NaN})", "'max_error_rate' is NaN"},
           {R"({"compare":"all"})", "'compare' must be 'values' or 'top1'"},
           {R"({"on_timeout":"end"})", "'on_timeout' must be"},
           {R"({"step_requests":1.5})", "'step_requests' is 1.5; it must be an integer from 0"},
           {R"({"promote":1})", "'promote' must be a boolean"},
           {R"({"step":1})", "unknown member 'step'"},
           {R"({"mirror":0})", "the first of 'steps' is 0 and 'mirror' is 0"},
       }) {
    const auto policy = ParsePolicy(text);
    ASSERT_FALSE(policy.ok()) << text;
    EXPECT_EQ(policy.status().code(), Code::kInvalidArgument);
    EXPECT_NE(policy.status().message().find(message), std::string::npos) << policy.status().message();
  }
}

TEST(RolloutRequest, ReadsActions) {
  auto request = ParseRolloutRequest(
      R"({"action":"start","version":3,"stable":"2","policy": {"steps":[1]} ,"reason":"try"})");
  ASSERT_TRUE(request.ok()) << request.status().message();
  EXPECT_EQ(request->version, "3");
  EXPECT_EQ(request->stable, "2");
  EXPECT_EQ(request->reason, "try");
  ASSERT_TRUE(ParsePolicy(request->policy).ok()) << request->policy;
  request = ParseRolloutRequest(R"({"action":"weight","weight":null})");
  ASSERT_TRUE(request.ok());
  EXPECT_FALSE(request->weight);
  request = ParseRolloutRequest(R"({"action":"label","label":"beta","version":null})");
  ASSERT_TRUE(request.ok());
  EXPECT_EQ(request->version, "");
}

TEST(RolloutRequest, RefusesMistakes) {
  for (const auto& [text, message] : {
           std::pair("", "expected a JSON object"),
           {R"({"action":"go"})", "'action' is 'go'; it must be one of start, weight, promote"},
           {R"({"action":1})", "'action' must be a string"},
           {R"({"action":"promote"} x)", "must not be followed by other values at 21"},
           {R"({"action":"promote","weight":1})", "action 'promote' takes no 'weight'"},
           {R"({"action":"weight"})", "action 'weight' needs 'weight'"},
           {R"({"action":"weight","weight":"5"})", "'weight' must be a percentage"},
           {R"({"action":"weight","weight":1e9})", "it must be from 0 to 100"},
           {R"({"action":"label","version":1})", "action 'label' needs 'label'"},
           {R"({"action":"label","label":"a"})", "action 'label' needs 'version'"},
           {R"({"action":"start","version":-1})", "'version' must be the number of a version"},
           {R"({"action":"start","policy":[]})", "'policy' must be an object"},
           {R"({"action":"start","more":1})", "unknown member 'more'"},
       }) {
    const auto request = ParseRolloutRequest(text);
    ASSERT_FALSE(request.ok()) << text;
    EXPECT_NE(request.status().message().find(message), std::string::npos) << request.status().message();
  }
}

}  // namespace
}  // namespace tern::server
