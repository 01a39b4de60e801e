// tern_replay_models CORPUS reads the stored models of each format. The models are in CORPUS/<library>_fuzz,
// where <library> is the name of the library that reads the format, such as "onnx".
#include "check_model.h"
#include "load/load.h"
#include "ops/ops.h"
#include "replay.h"

static int ReplayFormat(const tern::load::Format& format, const std::filesystem::path& corpus) {
  const auto read = tern::load::ReaderOf(format);
  if (!read.ok()) {
    std::printf("FAIL %s: %s\n", format.name.c_str(), read.status().ToString().c_str());
    std::exit(1);
  }
  return ReplayFolder(corpus / (format.library + "_fuzz"), [&](const uint8_t* data, size_t size) {
    tern::load::ReadContext context;
    CheckModel(
        (*read)({"", tern::Buffer::Borrow(const_cast<uint8_t*>(data), size, nullptr), false}, context));
  });
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tern_replay_models CORPUS\n");
    return 2;
  }
  tern::InitOps();
  int count = 0;
  for (const tern::load::Format& format : tern::load::Formats().rows())
    if (!format.library.empty()) count += ReplayFormat(format, argv[1]);
  std::printf("%d passed, 0 failed, 0 skipped\n", count);
  return count ? 0 : 1;
}
