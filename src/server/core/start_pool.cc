#include "server/core/start_pool.h"

#include <cstdint>

#include "base/thread_pool.h"

namespace tern::server {

void StartPool() {
  const Workers workers;
  workers.ParallelFor(workers.threads(), 1, [](int64_t, int64_t) {});
}

}  // namespace tern::server
