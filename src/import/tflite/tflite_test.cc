#include <gtest/gtest.h>

#include "import/testing.h"

namespace tern {
namespace {

TEST(TensorFlowLite, RefusesOtherFiles) {
  const auto graph = load::ReadForTest("\x1c\0\0\0TFLX");
  ASSERT_FALSE(graph.ok());
  EXPECT_EQ(graph.status().message(), "not a TensorFlow Lite model: bytes 4 to 7 are not 'TFL3'");
}

}  // namespace
}  // namespace tern
