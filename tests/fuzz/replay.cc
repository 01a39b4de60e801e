// tern_fuzz_replay CORPUS runs the fuzz targets on all inputs of their corpora, in a build without libFuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using Target = int (*)(const uint8_t*, size_t);
int FuzzOnnx(const uint8_t*, size_t);
int FuzzTernFile(const uint8_t*, size_t);
int FuzzTextIr(const uint8_t*, size_t);
int FuzzNpy(const uint8_t*, size_t);
int FuzzNpz(const uint8_t*, size_t);
int FuzzJson(const uint8_t*, size_t);
int FuzzImage(const uint8_t*, size_t);
int FuzzTuning(const uint8_t*, size_t);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tern_fuzz_replay CORPUS\n");
    return 2;
  }
  const std::pair<const char*, Target> targets[] = {
      {"onnx_fuzz", FuzzOnnx},      {"tern_file_fuzz", FuzzTernFile},
      {"text_ir_fuzz", FuzzTextIr}, {"npy_fuzz", FuzzNpy},
      {"npz_fuzz", FuzzNpz},        {"json_fuzz", FuzzJson},
      {"image_fuzz", FuzzImage},    {"tuning_fuzz", FuzzTuning}};
  int count = 0;
  for (const auto& [name, target] : targets) {
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(argv[1]) / name)) {
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(file)), {});
      std::printf("PASS %s/%s\n", name, entry.path().filename().c_str());
      std::fflush(stdout);
      target(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());  // aborts if it finds an error
      ++count;
    }
  }
  std::printf("%d passed, 0 failed, 0 skipped\n", count);
  return count ? 0 : 1;
}
