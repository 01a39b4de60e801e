// Runs the tests of one binary, with as many threads as they ask for also where cores are few.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("TERN_CORES", "8", 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
