#include "server/isolation/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tern::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kMagic = 0x7E121501;
constexpr size_t kInline = 32 << 10;  // longer payloads are passed in a memory object
constexpr std::chrono::seconds kSendLimit{5};

struct Header {
  uint32_t magic = kMagic;
  uint32_t type = 0;
  uint64_t id = 0;
  uint64_t bytes = 0;      // of the payload
  uint32_t in_memory = 0;  // 1: the payload is in a memory object, which is the first descriptor
  uint32_t reserved = 0;
};

Status Errno(const char* what) { return Unavailable(what, ": ", std::strerror(errno)); }

Result<UniqueFd> MemoryOf(std::string_view payload) {
  UniqueFd fd(memfd_create("tern-message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return Errno("cannot make a memory object");
  for (size_t done = 0; done < payload.size();) {
    const ssize_t n = write(fd.get(), payload.data() + done, payload.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Errno("cannot write a memory object");
    done += static_cast<size_t>(n);
  }
  return fd;
}

// Copies the payload with system calls: the other side may change or shrink the object at any time.
Status ReadMemory(int fd, size_t bytes, std::string& out) {
  struct stat info {};
  // Only memory objects have seals. Reading another file could block.
  if (fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      static_cast<uint64_t>(info.st_size) < bytes)
    return Status(Code::kInternal, "a message is not in a memory object of its size");
  out.resize(bytes);
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pread(fd, out.data() + done, bytes - done, static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status(Code::kInternal, "the memory object of a message became smaller");
    done += static_cast<size_t>(n);
  }
  return {};
}

void AttachFds(msghdr& message, const std::vector<int>& fds, char* control) {
  if (fds.empty()) return;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
  std::memcpy(CMSG_DATA(head), fds.data(), sizeof(int) * fds.size());
}

// Takes every descriptor that arrived, so that none is leaked.
std::vector<UniqueFd> TakeFds(msghdr& message) {
  std::vector<UniqueFd> fds;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

// Returns the milliseconds until `deadline` for poll, at most an hour.
int WaitMs(Clock::time_point deadline) {
  if (deadline == Clock::time_point::max()) return 3'600'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

bool Poll(int fd, short events, Clock::time_point deadline) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, WaitMs(deadline));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // the next system call reports the error
    if (Clock::now() >= deadline) return false;
  }
}

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> Channel::Pair() {
  int fds[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) != 0)
    return Errno("cannot make a socket for the model's process");
  return std::pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

Status Channel::Send(MessageType type, uint64_t id, std::string_view payload, const std::vector<int>& fds,
                     bool wait) {
  if (payload.size() > kMaxPayload)
    return ResourceExhausted("a message of ", payload.size(), " bytes exceeds the limit, ", kMaxPayload);
  Header header;
  header.type = static_cast<uint32_t>(type);
  header.id = id;
  header.bytes = payload.size();
  UniqueFd memory;
  std::vector<int> attached;
  if (payload.size() > kInline) {
    TERN_ASSIGN(memory, MemoryOf(payload));
    header.in_memory = 1;
    attached.push_back(memory.get());
    payload = {};
  }
  attached.insert(attached.end(), fds.begin(), fds.end());
  TERN_CHECK(attached.size() <= kMaxFds, "too many descriptors");
  iovec parts[] = {{&header, sizeof header}, {const_cast<char*>(payload.data()), payload.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  AttachFds(message, attached, control);
  const std::lock_guard lock(sending_);
  const auto deadline = Clock::now() + (wait ? kSendLimit : std::chrono::seconds(0));
  while (sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Errno("the model's process cannot be reached");
    if (!wait || !Poll(socket_.get(), POLLOUT, deadline))
      return Unavailable("the model's process does not read its messages");
  }
  return {};
}

bool Channel::Wait(Clock::time_point deadline) const { return Poll(socket_.get(), POLLIN, deadline); }

Result<Message> Channel::Receive(Clock::time_point deadline) {
  for (;;) {
    if (!Wait(deadline)) return Status(Code::kCancelled, "no message arrived in time");
    auto message = Read();
    // Another thread cannot have read the message, but poll may report a socket without one.
    if (message.ok() || message.status().code() != Code::kCancelled) return message;
  }
}

Result<Message> Channel::Read() {
  buffer_.resize(kInline + sizeof(Header));
  iovec part{buffer_.data(), buffer_.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFds)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
    return Status(Code::kCancelled, "no message");
  if (got < 0) return Errno("the model's process cannot be reached");
  Message out;
  out.fds = TakeFds(message);
  if (got == 0) return Unavailable("the model's process has closed its connection");
  Header header;
  const auto size = static_cast<size_t>(got);
  if (size < sizeof header || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
    return Status(Code::kInternal, "a message has a wrong size");
  std::memcpy(&header, buffer_.data(), sizeof header);
  if (header.magic != kMagic || header.in_memory > 1 || header.bytes > kMaxPayload ||
      (header.in_memory ? size != sizeof header || out.fds.empty() : size - sizeof header != header.bytes))
    return Status(Code::kInternal, "a message has a wrong header");
  out.type = static_cast<MessageType>(header.type);
  out.id = header.id;
  if (!header.in_memory) {
    out.payload.assign(buffer_, sizeof header, header.bytes);
    return out;
  }
  TERN_TRY(ReadMemory(out.fds[0].get(), header.bytes, out.payload));
  out.fds.erase(out.fds.begin());
  return out;
}

void Channel::Shutdown() { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace tern::server
