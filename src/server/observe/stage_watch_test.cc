#include "server/observe/stage_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/observe/energy.h"

namespace tern::server {
namespace {

using namespace std::chrono_literals;

constexpr Phase kStages[] = {Phase::kParse,   Phase::kQueue,  Phase::kInput,
                             Phase::kCompute, Phase::kOutput, Phase::kCache};

// Simulates seconds of traffic with fixed times per stage.
class Traffic {
 public:
  // Means in ms, by Phase without kRequest.
  void Run(int seconds, const std::array<double, 6>& means, uint64_t per_second = 100) {
    for (int i = 0; i < seconds; ++i) {
      for (size_t stage = 0; stage < means.size(); ++stage) {
        const auto ns = static_cast<uint64_t>(means[stage] * 1e6) * per_second;
        totals_.ns[stage + 1] += ns;
        totals_.ns[0] += ns;
      }
      totals_.requests += per_second;
      totals_.cpu_ns += per_second * 1'000'000;
      totals_.busy_seconds += 0.5;
      if (energy_) totals_.joules = totals_.joules.value_or(0) + 20;
      now_ += 1s;
      history_.Add(totals_, now_);
    }
  }
  StageReport Report() const { return history_.Report(); }
  void Restart() { totals_ = {}; }
  bool energy_ = false;

 private:
  StageHistory history_;
  StageTotals totals_;
  Clock::time_point now_ = Clock::now();
};

constexpr std::array<double, 6> kUsual = {0.1, 0.3, 0.1, 1.0, 0.1, 0.02};

TEST(StageWatch, NamesEachStageThatGrows) {
  for (size_t stage = 0; stage < 6; ++stage) {
    Traffic traffic;
    traffic.Run(60, kUsual);
    EXPECT_EQ(traffic.Report().bottleneck, Phase::kCompute) << "more than half of the latency";
    std::array<double, 6> slow = kUsual;
    slow[stage] += 20;
    traffic.Run(10, slow);
    EXPECT_EQ(traffic.Report().bottleneck, kStages[stage]);
    EXPECT_NEAR(traffic.Report().mean[stage + 1], slow[stage] * 1e-3, 1e-6);
    EXPECT_NEAR(traffic.Report().usual[stage + 1], kUsual[stage] * 1e-3, 1e-6);
    traffic.Run(11, kUsual);
    EXPECT_EQ(traffic.Report().bottleneck, Phase::kCompute);
  }
}

TEST(StageWatch, NamesWhatGrewEvenIfAnotherStageTakesLonger) {
  Traffic traffic;
  const std::array<double, 6> usual = {0.1, 0.3, 0.1, 50, 0.1, 0};
  traffic.Run(60, usual);
  std::array<double, 6> slow = usual;
  slow[1] += 20;  // the queue
  traffic.Run(10, slow);
  EXPECT_EQ(traffic.Report().bottleneck, Phase::kQueue);
}

TEST(StageWatch, NamesTheLargestStageFromTheStart) {
  Traffic traffic;
  traffic.Run(3, {20, 0.1, 0.1, 0.5, 0.1, 0});
  EXPECT_EQ(traffic.Report().bottleneck, Phase::kParse);
  EXPECT_FALSE(traffic.Report().has_usual);
}

TEST(StageWatch, NamesNoneWithoutTrafficOrMajority) {
  Traffic idle;
  idle.Run(30, kUsual, 0);
  EXPECT_FALSE(idle.Report().bottleneck);
  Traffic rare;
  rare.Run(1, kUsual, 1);
  rare.Run(3, kUsual, 1);
  EXPECT_FALSE(rare.Report().bottleneck) << "3 requests in the window";
  Traffic even;
  even.Run(30, {1, 1, 1, 1, 1, 1});
  EXPECT_FALSE(even.Report().bottleneck);
  EXPECT_FALSE(StageHistory().Report().bottleneck);
}

TEST(StageWatch, AnotherVersionBeginsAgain) {
  Traffic traffic;
  traffic.Run(60, kUsual);
  traffic.Restart();
  traffic.Run(1, {9, 0, 0, 0, 0, 0});
  EXPECT_FALSE(traffic.Report().has_usual);
  traffic.Run(3, {9, 0, 0, 0, 0, 0});
  EXPECT_EQ(traffic.Report().bottleneck, Phase::kParse);
}

TEST(StageWatch, AChangeThatStaysBecomesUsual) {
  Traffic traffic;
  traffic.Run(60, kUsual);
  std::array<double, 6> slow = kUsual;
  slow[4] += 2;  // the output, beside 1 ms of computing
  traffic.Run(3600, slow);
  EXPECT_NEAR(traffic.Report().usual[5], 2.1e-3, 0.2e-3);
}

TEST(StageWatch, ProcessorTimeAndEnergyPerRequest) {
  Traffic traffic;
  traffic.Run(20, kUsual);
  EXPECT_NEAR(*traffic.Report().cpu_seconds, 1e-3, 1e-6);
  EXPECT_FALSE(traffic.Report().joules) << "the machine does not tell";
  Traffic measured;
  measured.energy_ = true;
  measured.Run(20, kUsual);
  // 0.1 of 0.5 s of processor time, 20 J per second, 100 requests per second.
  EXPECT_NEAR(*measured.Report().joules, 0.04, 1e-6);
}

class Folder {
 public:
  Folder() : path_(testing::TempDir() + "tern_powercap") {
    std::filesystem::remove_all(path_);
    Write("intel-rapl:0/max_energy_range_uj", 1000);
    Write("intel-rapl:0:0/energy_uj", 5'000'000);
    Write("intel-rapl:1/max_energy_range_uj", 10'000'000);
    Write("other/energy_uj", 7);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void Write(const std::string& name, uint64_t value) {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name) << value << "\n";
  }
  const std::string path_;
};

TEST(Energy, AddsPackagesAndOverflows) {
  Folder folder;
  EXPECT_FALSE(EnergyMeter(folder.path_).Joules());
  folder.Write("intel-rapl:0/energy_uj", 900);
  folder.Write("intel-rapl:1/energy_uj", 2'000'000);
  EnergyMeter meter(folder.path_);
  EXPECT_EQ(meter.Joules(), 0.0);
  folder.Write("intel-rapl:1/energy_uj", 5'000'000);
  EXPECT_NEAR(*meter.Joules(), 3.0, 1e-9);
  folder.Write("intel-rapl:0/energy_uj", 100);
  EXPECT_NEAR(*meter.Joules(), 3.0002, 1e-9);
}

TEST(Energy, IsAbsentWhereTheMachineDoesNotTell) { EXPECT_FALSE(EnergyMeter("/nonexistent").Joules()); }

}  // namespace
}  // namespace tern::server
