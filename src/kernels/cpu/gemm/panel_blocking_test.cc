#include "kernels/cpu/gemm/panel_blocking.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/cpu/support/blocking.h"
#include "kernels/cpu/support/even_test_support.h"

namespace tern::cpu {
namespace {

PanelShape ShapeOf(int64_t m, int64_t n, int64_t k) { return {m, n, k, k, 1024, 8, 48, 16, Collide(k)}; }

// Layers of BERT and ViT (batch 1 and 8), pointwise layers of ResNet-50.
const PanelShape kShapes[] = {ShapeOf(128, 768, 3072),  ShapeOf(128, 768, 768),  ShapeOf(1024, 768, 3072),
                              ShapeOf(1024, 3072, 768), ShapeOf(197, 3072, 768), ShapeOf(3136, 256, 64),
                              ShapeOf(196, 1024, 256),  ShapeOf(49, 2048, 512),  ShapeOf(196, 256, 1024)};

std::vector<double> JobsOf(const PanelShape& p, const PanelBlocking& b) {
  std::vector<double> jobs;
  const int64_t panels = CeilDiv(p.n, p.tile_columns);
  for (int64_t job = 0; job < b.jobs(); ++job)
    jobs.push_back(static_cast<double>(std::min(b.rows, p.m - b.RowJob(job) * b.rows) *
                                       std::min(b.panels, panels - b.PanelJob(job) * b.panels)));
  return jobs;
}

TEST(PanelBlocking, EvenForManyThreads) {
  for (const PanelShape& p : kShapes)
    for (int threads : {4, 8, 16}) {
      const std::vector<double> jobs = JobsOf(p, BlockingOf(p, threads));
      EXPECT_LE(WaitOfThreads(jobs, threads, false), 0.15)
          << p.m << "x" << p.n << "x" << p.k << ", " << threads;
      EXPECT_LE(WaitOfThreads(jobs, threads, true), 0.35)
          << p.m << "x" << p.n << "x" << p.k << ", " << threads;
    }
}

TEST(PanelBlocking, EachJobOnce) {
  for (const bool panels_first : {false, true}) {
    const PanelBlocking b{1, 1, 1, 5, 3, panels_first};
    std::set<std::pair<int64_t, int64_t>> seen;
    for (int64_t job = 0; job < b.jobs(); ++job) {
      EXPECT_TRUE(b.RowJob(job) < 5 && b.PanelJob(job) < 3) << job;
      EXPECT_TRUE(seen.emplace(b.RowJob(job), b.PanelJob(job)).second) << job;
    }
  }
}

TEST(PanelBlocking, EachThreadOf64HasWork) {
  for (const PanelShape& p : kShapes)
    EXPECT_GE(JobsOf(p, BlockingOf(p, 64)).size(), 64u) << p.m << "x" << p.n << "x" << p.k;
}

// Four threads read b four times if each has its own rows and all columns.
TEST(PanelBlocking, LargePanelsAreNotReadByAllThreads) {
  const PanelShape p = ShapeOf(128, 768, 3072);
  for (int threads : {4, 8, 16}) {
    const PanelBlocking b = BlockingOf(p, threads);
    for (int i = 0; i < threads; ++i) {
      std::set<int64_t> panel_jobs;
      for (int64_t job = b.jobs() * i / threads; job < b.jobs() * (i + 1) / threads; ++job)
        panel_jobs.insert(b.PanelJob(job));
      EXPECT_LE(static_cast<int64_t>(panel_jobs.size()) * b.panels, 6)
          << "of 16, on " << threads << " threads";
    }
  }
}

TEST(PanelBlocking, SmallProductsAreNotSplit) {
  for (int threads : {2, 4, 16, 64}) {
    const PanelBlocking b = BlockingOf(ShapeOf(8, 48, 64), threads);
    EXPECT_EQ(b.row_jobs * b.panel_jobs, 1) << threads;
  }
}

}  // namespace
}  // namespace tern::cpu
