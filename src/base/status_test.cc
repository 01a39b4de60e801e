#include "base/status.h"

#include <gtest/gtest.h>

namespace tern {
namespace {

TEST(Status, SaysItsCategoryOnce) {
  const Status thrown = Guard([]() -> Status { throw std::runtime_error("so"); });
  EXPECT_EQ(thrown.ToString(), "internal error: so");
  EXPECT_EQ(NotFound("so").ToString(), "not found: so");
}

TEST(Status, TellsWhatWasBeingDone) {
  EXPECT_EQ(NotFound("so").While("inner").While("outer").ToString(), "not found: so\n  while: inner < outer");
}

}  // namespace
}  // namespace tern
