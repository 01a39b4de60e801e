// Parses ModelInferRequest messages with the parser of the gRPC server.
#include <cstdlib>
#include <memory>

#include "entry.h"
#include "server/grpc/infer_request.h"

using namespace tern;

namespace {

// Has a single shared memory region: "r", of 64 bytes.
class OneRegion : public server::SharedMemoryControl {
 public:
  Status Register(const std::string&, const std::string&, uint64_t, uint64_t) override { return {}; }
  Status Unregister(const std::string&) override { return {}; }
  Result<std::vector<server::SharedMemoryRegion>> List(const std::string&) override {
    return std::vector<server::SharedMemoryRegion>();
  }
  Result<std::shared_ptr<const server::SharedMemoryRange>> Find(const std::string& name, uint64_t offset,
                                                                uint64_t bytes) override {
    if (name != "r" || offset > 64 || bytes > 64 - offset) return NotFound("no such region");
    return std::shared_ptr<const server::SharedMemoryRange>(std::make_shared<Range>(bytes));
  }

 private:
  class Range : public server::SharedMemoryRange {
   public:
    explicit Range(uint64_t bytes) : bytes_(bytes) {}
    uint64_t size() const override { return bytes_; }
    Status Read(void*) const override { return {}; }
    Status Write(const void*, uint64_t) const override { return {}; }

   private:
    const uint64_t bytes_;
  };
};

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  // The message is copied to the heap, so that AddressSanitizer reports a read beyond its end.
  const std::shared_ptr<uint8_t[]> copy(new uint8_t[size]);
  std::copy(data, data + size, copy.get());
  const Buffer message = Buffer::Borrow(copy.get(), size, copy);
  OneRegion memory;
  server::InferParseOptions options;
  options.shared_memory = &memory;
  options.bytes = 1 << 20;
  server::InferMessage out;
  const Status status = server::ParseInferRequest(message, options, out);
  if (status.code() == Code::kInternal) std::abort();
  uint64_t sum = 0;  // reads all bytes that the server would read
  for (const server::WireTensor& input : out.request.inputs)
    for (size_t i = 0; i < input.bytes.size(); ++i) sum += static_cast<uint64_t>(input.bytes.data()[i]);
  return sum == UINT64_MAX ? 1 : 0;
}
