#include "passes/example.h"

#include <gtest/gtest.h>

#include "ops/ops.h"

namespace tern {
namespace {

TEST(Example, ARuleThatDoesNotFireIsNamed) {
  InitOps();
  Rule rule{.roots = {"Identity"},
            .apply = [](Rewrite& r) { return r.Skip("never"); },
            .example = "graph @g(%x: f32[2]) -> (%y) { %y = Identity(%x) }"};
  rule.name = "Lazy";
  const auto example = RunExample(rule);
  ASSERT_FALSE(example.ok());
  const std::string message = example.status().ToString();
  EXPECT_NE(message.find("'Lazy'"), std::string::npos) << message;
  EXPECT_NE(message.find("never"), std::string::npos) << message;
}

}  // namespace
}  // namespace tern
