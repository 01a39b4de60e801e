// Runs the tests of one binary as on eight cores: none depends on how many there are.
#include <gtest/gtest.h>

#include <cstdlib>

int main(int argc, char** argv) {
  setenv("TERN_CORES", "8", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
