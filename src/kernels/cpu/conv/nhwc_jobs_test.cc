#include "kernels/cpu/conv/nhwc_jobs.h"

#include <gtest/gtest.h>

#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/even_test_support.h"

namespace tern::cpu {
namespace {

struct Layer {
  int64_t size, channels, maps, kernel, stride;
  bool im2col;
};
// Layers of ResNet-50 that are neither pointwise nor computed by Winograd's algorithm.
const Layer kLayers[] = {{224, 3, 64, 7, 2, false},   {56, 256, 512, 1, 2, true},
                         {28, 512, 1024, 1, 2, true}, {14, 1024, 2048, 1, 2, true},
                         {28, 256, 256, 3, 2, true},  {14, 512, 512, 3, 2, true},
                         {56, 128, 128, 3, 2, false}};

ConvShape ShapeOf(const Layer& l) {
  ConvShape s;
  s.batch = 1, s.channels = l.channels, s.maps = l.maps, s.group = 1;
  s.input = {1, l.size, l.size}, s.output = {1, l.size / l.stride, l.size / l.stride};
  s.kernel = {1, l.kernel, l.kernel}, s.stride = {1, l.stride, l.stride}, s.dilation = {1, 1, 1};
  s.begin = {0, l.kernel / 2, l.kernel / 2};
  return s;
}

std::vector<double> JobsOf(const NhwcJobShape& shape, const NhwcBlocking& blocking) {
  std::vector<double> jobs;
  for (int64_t job = 0; job < blocking.jobs(); ++job) {
    const NhwcJob j = JobOf(shape, blocking, job);
    jobs.push_back(static_cast<double>((j.last - j.first) * (j.panel1 - j.panel0)));
  }
  return jobs;
}

TEST(NhwcJobs, EvenForManyThreads) {
  for (const Layer& l : kLayers) {
    const ConvShape s = ShapeOf(l);
    const int64_t k = l.kernel * l.kernel * l.channels, width = s.output[2];
    const NhwcJobShape shape{s,
                             l.im2col,
                             l.im2col ? 1 : width,
                             k,
                             l.im2col ? k : l.kernel * l.size * l.channels,
                             l.im2col ? l.maps : width * l.maps,
                             0,
                             l.im2col ? k : 0,
                             8,
                             48,
                             16};
    for (int threads : {4, 8, 16}) {
      const std::vector<double> jobs = JobsOf(shape, BlockingOf(shape, threads));
      EXPECT_LE(WaitOfThreads(jobs, threads, false), 0.15) << l.size << "x" << l.channels << ", " << threads;
      EXPECT_LE(WaitOfThreads(jobs, threads, true), 0.35) << l.size << "x" << l.channels << ", " << threads;
    }
    EXPECT_GE(BlockingOf(shape, 64).jobs(), 48) << l.size << "x" << l.channels;
  }
}

}  // namespace
}  // namespace tern::cpu
