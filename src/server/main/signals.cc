#include "server/main/signals.h"

#include <cerrno>
#include <ctime>

namespace tern::server {

Signals::Signals() {
  sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
  pthread_sigmask(SIG_BLOCK, &set_, &before_);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_);
}

Signals::~Signals() {
  sigaction(SIGPIPE, &pipe_, nullptr);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::Wait(std::chrono::milliseconds limit) {
  const timespec time{limit.count() / 1000, (limit.count() % 1000) * 1'000'000};
  const int signal = sigtimedwait(&set_, nullptr, &time);
  return signal > 0 ? signal : 0;
}

}  // namespace tern::server
