// Runs the tests of one binary as if the machine had eight cores, so that results do not depend on the number
// of cores.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("TERN_CORES", "8", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
