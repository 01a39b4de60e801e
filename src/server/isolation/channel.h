// Messages between the server and the process of an isolated model, over a UNIX socket. Both sides check what
// they receive.
#pragma once
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/isolation/messages.h"
#include "server/isolation/unique_fd.h"

namespace tern::server {

struct Message {
  MessageType type{};
  uint64_t id = 0;
  std::string payload;
  std::vector<UniqueFd> fds;  // attached by the sender; at most kMaxFds
};

class Channel {
 public:
  static constexpr size_t kMaxFds = 3;
  static constexpr size_t kMaxPayload = size_t{512} << 20;

  // Takes ownership of a connected SOCK_SEQPACKET socket.
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}
  // Returns two sockets that are connected to each other.
  static Result<std::pair<UniqueFd, UniqueFd>> Pair();

  // Thread-safe. If the other side reads too slowly, waits at most 5 s if `wait` is true, else fails at once.
  // A payload of more than 32 KiB is passed in a memory object.
  Status Send(MessageType type, uint64_t id, std::string_view payload, const std::vector<int>& fds = {},
              bool wait = true);
  // Returns the next message. Fails with kUnavailable if the other side has closed its socket, with
  // kInternal if the message is wrong, and with kCancelled if there is none before `deadline`.
  // Only one thread may call it at a time.
  Result<Message> Receive(
      std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max());
  // Waits until a message can be received or the other side is gone. Returns false after `deadline`.
  bool Wait(std::chrono::steady_clock::time_point deadline) const;
  // Ends both directions. Threads that wait in Receive return. Thread-safe.
  void Shutdown();
  int fd() const { return socket_.get(); }

 private:
  Result<Message> Read();

  const UniqueFd socket_;
  std::mutex sending_;
  std::string buffer_;  // receives the next message
};

}  // namespace tern::server
