// Tests the messages of attention about operands that do not fit together.
#include "base/strings.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// Runs attention over q [1,2,1,4], v [1,2,5,4] and these operands. Returns the error message.
std::string ErrorOf(const Dims& k, const Dims& past_k, const Dims& past_v, bool stacked = false) {
  const std::string dims = stacked ? "I,J,K,L,M" : "J,K,L,M";
  const std::string graph = StrCat(
      "graph @g(%q: f32[1,2,1,4], %k: f32[A,B,C,D], %v: f32[1,2,5,4], %pk: f32[", dims, "], %pv: f32[", dims,
      "]) -> (%y, %p) {\n  %y, %p = Attention(%q, %k, %v, _, %pk, %pv) {stacked=", stacked ? "true" : "false",
      "}\n}");
  const auto session = SessionOf(ParseOrDie(graph));
  const auto got = session->Run(DatumList{Counting({1, 2, 1, 4}), Counting(k), Counting({1, 2, 5, 4}),
                                          Counting(past_k), Counting(past_v)});
  return got.ok() ? "" : got.status().message();
}

bool Contains(const std::string& text, const char* part) { return text.find(part) != text.npos; }

TEST(Attention, MessagesNameTheOperand) {
  const Dims k = {1, 2, 5, 4}, past = {1, 2, 3, 4};
  EXPECT_EQ(ErrorOf(k, past, past), "");
  std::string error = ErrorOf(k, {1, 2, 3, 5}, past);
  EXPECT_TRUE(Contains(error, "input 'past_k' is [1,2,3,5], but must be [1,2,past length,4]")) << error;
  error = ErrorOf(k, past, {1, 2, 7, 4});
  EXPECT_TRUE(Contains(error,
                       "input 'past_v' is [1,2,7,4], but must be [1,2,3,4], with the past length of "
                       "past_k"))
      << error;
  error = ErrorOf(k, {2, 1, 2, 3, 5}, {2, 1, 2, 3, 5}, true);
  EXPECT_TRUE(Contains(error, "input 'past_k' is [2,1,2,3,5], but must be [2,1,2,past length,4]")) << error;
  error = ErrorOf({1, 2, 6, 4}, past, past);
  EXPECT_TRUE(Contains(error, "do not match each other, or batch size 1 and head size 4 of q")) << error;
}

}  // namespace
}  // namespace tern
