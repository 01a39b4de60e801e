// Steady-state runs do not allocate: every way to the heap is counted here.
#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/test_support.h"

namespace {
std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

void Count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

void* NewOrThrow(std::size_t size) {
  Count();
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t size) { return NewOrThrow(size); }
void* operator new[](std::size_t size) { return NewOrThrow(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

// The C entries too, where no sanitizer has taken them already.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void* malloc(std::size_t n) { Count(); return __libc_malloc(n); }
void* calloc(std::size_t n, std::size_t size) { Count(); return __libc_calloc(n, size); }
void* realloc(void* p, std::size_t n) { Count(); return __libc_realloc(p, n); }
void* aligned_alloc(std::size_t align, std::size_t n) { Count(); return __libc_memalign(align, n); }
}
#endif

namespace tern {
namespace {

int AllocationsOf(Session& session, int runs) {
  allocations = 0;
  counting = true;
  bool ok = true;
  for (int i = 0; i < runs; ++i) ok &= session.Run().ok();
  counting = false;
  EXPECT_TRUE(ok);
  return allocations;
}

TEST(Allocation, TheCounterCounts) {
  allocations = 0;
  counting = true;
  { const Tensor t(DType::kF32, {16}); }
  counting = false;
  EXPECT_GT(allocations, 0);
}

TEST(Allocation, SteadyStateRunsDoNone) {
  SessionOptions options;
  options.threads = 2;
  auto session = SessionOf(ParseOrDie(R"(graph @g(%x: f32[N,64], %b: f32[N,64]) -> (%y, %z, %v) {
    #shape: i64[1] = (-1)
    %a = %x + %b
    %r = Relu(%a)
    %y = Concat(%r, %a, %x) {axis=0}
    %p, %q = Split(%y) {axis=0}
    %z = %p + %q
    %v = Reshape(%x, #shape)
  })"), options);
  const Tensor x = Counting({512, 64}), b = Counting({512, 64}, 7), other = Counting({512, 64}, 9);
  const Tensor z(DType::kF32, {768, 64});
  ASSERT_TRUE(session->BindInput(0, x).ok());
  ASSERT_TRUE(session->BindInput(1, b).ok());
  for (int warm = 0; warm < 3; ++warm) ASSERT_TRUE(session->Run().ok());
  EXPECT_TRUE(session->Fallbacks().empty());
  EXPECT_EQ(AllocationsOf(*session, 100), 0);

  // Binding other memory of the same shape is free as well.
  ASSERT_TRUE(session->BindOutput(1, z).ok());
  ASSERT_TRUE(session->Run().ok());
  allocations = 0;
  counting = true;
  const Datum fed(other);
  const int before = allocations;
  const bool bound = session->BindInput(0, fed).ok() && session->Run().ok();
  counting = false;
  EXPECT_TRUE(bound);
  EXPECT_EQ(allocations - before, 0);
}

}  // namespace
}  // namespace tern
