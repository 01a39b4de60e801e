// Parses what the process of an isolated model sends to the server. The first byte selects the message.
#include <cstdlib>
#include <string>

#include "entry.h"
#include "server/isolation/messages.h"

using namespace tern;
using namespace tern::server;

namespace {

void CheckOutput(const WireTensor& output, uint64_t bytes) {
  if (!CheckShape(output, bytes).ok()) std::abort();
}

}  // namespace

int TERN_FUZZ_ENTRY(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  // A copy on the heap, so that AddressSanitizer reports a read beyond its end.
  const std::string payload(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: {
      LoadedMessage message;
      static_cast<void>(Parse(payload, message));
      return 0;
    }
    case 1: {
      RanMessage message;
      bool broken = false;
      static_cast<void>(Parse(payload, message, broken));
      if (broken) return 0;
      for (const ArenaTensor& output : message.outputs) CheckOutput(output.tensor, output.bytes);
      return 0;
    }
    case 2: {
      Response message;
      if (!Parse(payload, message).ok()) return 0;
      for (const WireTensor& output : message.outputs) {
        CheckOutput(output, output.bytes.size());
        if (!CheckStrings(output).ok()) std::abort();
      }
      return 0;
    }
    case 3: {
      StatisticsMessage message;
      static_cast<void>(Parse(payload, message));
      return 0;
    }
    default: {
      Status status;
      static_cast<void>(ParseStatus(payload, status));
      return 0;
    }
  }
}
