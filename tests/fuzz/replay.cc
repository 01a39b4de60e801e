// tern_fuzz_replay CORPUS runs all fuzz targets on their stored inputs, except model_fuzz.cc, for which see
// replay_models.cc.
#include "replay.h"

#define TERN_FUZZ_TARGET(name) int Fuzz_##name(const uint8_t*, size_t);
#include "targets.inc"  // CMakeLists.txt generates it
#undef TERN_FUZZ_TARGET

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tern_fuzz_replay CORPUS\n");
    return 2;
  }
  int count = 0;
#define TERN_FUZZ_TARGET(name) \
  count += ReplayFolder(std::filesystem::path(argv[1]) / #name "_fuzz", Fuzz_##name);
#include "targets.inc"
  std::printf("%d passed, 0 failed, 0 skipped\n", count);
  return count ? 0 : 1;
}
