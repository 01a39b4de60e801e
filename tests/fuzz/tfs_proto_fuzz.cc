// Parses the messages of TensorFlow Serving's PredictionService, and the signatures of SavedModels. The first
// byte of the input selects the message.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "entry.h"
#include "server/dialects/tfs/grpc_request.h"
#include "server/signatures/saved_model.h"

using namespace tern;
using namespace tern::server;

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  // The message is copied to the heap, so that AddressSanitizer reports a read beyond its end.
  const std::shared_ptr<uint8_t[]> copy(new uint8_t[size]);
  std::copy(data + 1, data + size, copy.get());
  const Buffer message = Buffer::Borrow(copy.get(), size - 1, copy);
  if (data[0] % 5 == 4) {
    if (ReadSignatures({reinterpret_cast<const char*>(message.data()), message.size()}).status().code() ==
        Code::kInternal)
      std::abort();
    return 0;
  }
  const auto method = static_cast<tfs::GrpcMethod>(data[0] % 5);
  InferParseOptions options;
  options.tensors = 16;
  options.bytes = 1 << 20;
  tfs::GrpcRequest request;
  InferMessage out;
  static_cast<void>(tfs::PeekSpec(method, message));
  const Status status = tfs::ReadGrpcRequest(method, message, options, request, out);
  if (status.code() == Code::kInternal) std::abort();
  uint64_t sum = 0;  // reads all bytes that the server would read
  for (const WireTensor& input : out.request.inputs)
    for (size_t i = 0; i < input.bytes.size(); ++i) sum += static_cast<uint64_t>(input.bytes.data()[i]);
  return sum == UINT64_MAX ? 1 : 0;
}
