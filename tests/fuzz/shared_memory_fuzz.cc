// Registers, resizes, reads and writes shared memory with arbitrary names, keys, offsets and sizes, and
// parses infer requests whose tensors are in shared memory. The input is a list of operations: one byte
// selects the operation, the next bytes are its arguments.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "entry.h"
#include "server/core/shared_tensors.h"
#include "server/http/infer_request.h"
#include "server/shm/shared_memory.h"

using namespace tern;
using namespace tern::server;

namespace {

constexpr uint64_t kMaxObject = 4096;  // bytes

// A shared memory object of this process.
class Object {
 public:
  Object() : key_("/tern_fuzz_" + std::to_string(getpid())) {
    shm_unlink(key_.c_str());
    fd_ = shm_open(key_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd_ < 0) std::abort();
    Resize(256);
  }
  ~Object() {
    close(fd_);
    shm_unlink(key_.c_str());
  }
  const std::string& key() const { return key_; }
  void Resize(uint64_t bytes) {
    if (ftruncate(fd_, static_cast<off_t>(bytes % kMaxObject)) != 0) std::abort();
  }

 private:
  const std::string key_;
  int fd_ = -1;
};

class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  uint8_t Byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  // A small number, or any number.
  uint64_t Number() {
    const uint8_t first = Byte();
    if (first < 224) return first;
    uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | Byte();
    return number;
  }
  std::string Text(size_t max) {
    const size_t wanted = Byte();
    const size_t n = std::min({size_, max, wanted});
    std::string text(reinterpret_cast<const char*>(data_), n);
    data_ += n, size_ -= n;
    return text;
  }
  std::string Name() { return std::string(1, static_cast<char>('a' + Byte() % 4)); }

 private:
  const uint8_t* data_;
  size_t size_;
};

void Infer(const std::string& json, SharedMemoryControl& memory) {
  ModelConfig config;
  config.name = "m";
  TensorConfig input;
  input.name = "x";
  input.dtype = DType::kF32;
  input.dims = {-1};
  config.inputs.push_back(input);
  Limits limits;
  const InferSource source{&config, &limits, &memory};
  const Buffer body = Buffer::Allocate(json.size());
  if (!json.empty()) std::memcpy(body.data(), json.data(), json.size());
  Request request;
  InferFormat format;
  const Status status = ParseInferRequest(body, std::nullopt, source, request, format);
  if (status.code() == Code::kInternal) std::abort();
  if (status.ok()) static_cast<void>(format.shared.ReadInputs(request));
}

// Reads and writes a range. The heap memory has exactly the size of the range, so that AddressSanitizer
// reports any access beyond it.
void Copy(const SharedMemoryRange& range) {
  if (range.size() > kMaxObject) std::abort();  // no object is larger
  const std::unique_ptr<char[]> bytes(new char[range.size()]);
  if (range.Read(bytes.get()).ok()) static_cast<void>(range.Write(bytes.get(), range.size()));
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  static Object object;
  object.Resize(256);
  const auto memory = MakeSharedMemory();
  Input in(data, size);
  std::shared_ptr<const SharedMemoryRange> kept;
  while (!in.empty()) {
    const uint8_t operation = in.Byte();
    if (operation % 8 == 0) {
      const std::string name = in.Name();
      static_cast<void>(memory->Register(name, object.key(), in.Number(), in.Number()));
    } else if (operation % 8 == 1) {
      const std::string key = in.Text(64);
      if (key.find("tern_fuzz") == std::string::npos && key.find('/', 1) == std::string::npos) continue;
      static_cast<void>(memory->Register(in.Text(2000), key, in.Number(), in.Number()));
    } else if (operation % 8 == 2) {
      auto range = memory->Find(in.Name(), in.Number(), in.Number());
      if (range.ok()) kept = std::move(*range);
    } else if (operation % 8 == 3) {
      static_cast<void>(memory->Unregister(operation & 8 ? "" : in.Name()));
    } else if (operation % 8 == 4) {
      static_cast<void>(memory->List(operation & 8 ? "" : in.Name()));
    } else if (operation % 8 == 5) {
      object.Resize(in.Number());
    } else if (operation % 8 == 6) {
      if (kept) Copy(*kept);
    } else {
      Infer(in.Text(255), *memory);
    }
  }
  return 0;
}
