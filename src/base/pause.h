// A moment's rest for a thread that looks for news again and again.
#pragma once
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
#include <thread>
#endif

namespace tern {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // takes about as long as pause; yield takes no time on most cores
#else
  std::this_thread::yield();
#endif
}

}  // namespace tern
