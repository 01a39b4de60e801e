// Limits on the configurations that the server reads.
#pragma once
#include <cstddef>
#include <string_view>

#include "base/status.h"

namespace google::protobuf {
class Message;
}

namespace tern::server {

inline constexpr size_t kConfigBytes = size_t{16} << 20;
inline constexpr int kConfigDepth = 32;
inline constexpr int kConfigValues = 1'000'000;

Status CheckConfigSize(std::string_view text);
// Fails if a string of the message is not UTF-8, because such a string can be neither sent nor printed.
Status CheckConfigStrings(const google::protobuf::Message& message);

}  // namespace tern::server
