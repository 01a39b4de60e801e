// The CPU's spin-wait hint.
#pragma once
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
#include <thread>
#endif

namespace tern {

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");  // about as long as x86's pause; `yield` is a no-op on most cores
#else
  std::this_thread::yield();
#endif
}

}  // namespace tern
