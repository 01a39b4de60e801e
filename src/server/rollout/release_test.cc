#include "server/rollout/release.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "server/rollout/state_file.h"

namespace tern::server {
namespace {

using List = std::vector<std::string>;

List Select(Release& release, List existing, List selected, bool automatic = true, bool specific = false) {
  SelectForRelease(release, {std::move(existing), automatic, specific}, selected);
  return selected;
}

// Returns "start 2, abort 1".
std::string Update(Release& release, const List& loaded, bool automatic = true) {
  List out;
  for (const ReleaseEvent& event : UpdateRelease(release, automatic, loaded))
    out.push_back(event.change + " " + event.version);
  return Join(out, ", ");
}

TEST(Release, ANewVersionBecomesTheCandidate) {
  Release r;
  EXPECT_EQ(Select(r, {"1"}, {"1"}), List{"1"});
  EXPECT_EQ(Update(r, {"1"}), "stable 1");
  EXPECT_EQ(Select(r, {"1", "2"}, {"2"}), (List{"1", "2"}));
  EXPECT_EQ(Update(r, {"1", "2"}), "start 2");
  EXPECT_EQ(Update(r, {"1", "2"}), "");
  EXPECT_EQ(Select(r, {"1", "2", "10"}, {"10"}), (List{"1", "2", "10"}));
  EXPECT_EQ(Update(r, {"1", "2", "10"}), "abort 2, start 10");
  EXPECT_EQ(Select(r, {"1", "2", "10"}, {"10"}), (List{"1", "10"}));
  EXPECT_EQ(Update(r, {"1", "2"}), "abort 10") << "its files are gone; version 2 does not come back";
  EXPECT_EQ(r.stable, "1");
}

TEST(Release, TheFirstVersionsNeedNoRollout) {
  Release r;
  EXPECT_EQ(Update(r, {"1", "2", "3"}), "stable 3");
  Release unmanaged;
  EXPECT_EQ(Update(unmanaged, {"1", "2"}, false), "");
  EXPECT_TRUE(unmanaged.empty());
}

TEST(Release, ARejectedVersionIsNotLoadedAgain) {
  Release r;
  r.SetStable("1");
  r.Reject("2", "it failed");
  EXPECT_EQ(Select(r, {"1", "2"}, {"2"}), List{"1"});
  EXPECT_EQ(Update(r, {"1"}), "");
  EXPECT_EQ(Select(r, {"1", "2"}, {"1", "2"}, true, true), (List{"1", "2"})) << "the policy names it";
  EXPECT_EQ(Update(r, {"1", "2"}), "");
  EXPECT_EQ(Select(r, {"1", "2", "3"}, {"3"}), (List{"1", "3"}));
  EXPECT_EQ(Update(r, {"1", "3"}), "start 3");
  EXPECT_EQ(Select(r, {}, {}), List{}) << "the folder cannot be read";
  EXPECT_TRUE(r.IsRejected("2"));
  Select(r, {"1", "3"}, {"3"});
  EXPECT_FALSE(r.IsRejected("2")) << "its files are gone; new ones of this number are another version";
}

TEST(Release, PromotionForgetsOlderRejections) {
  Release r;
  r.SetStable("1");
  r.Reject("2", "");
  r.candidate = "3";
  r.SetStable("3");
  EXPECT_TRUE(r.rejected.empty());
  EXPECT_EQ(r.candidate, "");
}

TEST(Release, APinEndsAtTheNextVersion) {
  for (const bool automatic : {false, true}) {
    Release r;
    r.SetStable("1");
    r.pinned = true;
    r.Reject("2", "users complain");
    EXPECT_EQ(Select(r, {"1", "2"}, {"2"}, automatic), List{"1"});
    EXPECT_EQ(Update(r, {"1"}, automatic), "");
    EXPECT_TRUE(r.pinned);
    const List selected = Select(r, {"1", "2", "3"}, {"3"}, automatic);
    EXPECT_EQ(selected, automatic ? (List{"1", "3"}) : List{"3"});
    EXPECT_EQ(Update(r, selected, automatic), automatic ? "unpin 1, start 3" : "unpin 1, stable 3");
    EXPECT_FALSE(r.pinned);
    EXPECT_EQ(r.stable, automatic ? "1" : "3");
  }
}

TEST(Release, AStartedRolloutGoesOnBesideNewVersions) {
  Release r;
  r.SetStable("1");
  r.candidate = "2";
  EXPECT_EQ(Select(r, {"1", "2", "3"}, {"3"}, false), (List{"1", "2", "3"}));
  EXPECT_EQ(Update(r, {"1", "2", "3"}, false), "");
  r.SetStable("2");
  EXPECT_EQ(Update(r, {"1", "2", "3"}, false), "stable 3");
}

TEST(Release, KeepsVersionsWithLabels) {
  Release r;
  r.labels["old"] = "1";
  EXPECT_EQ(Select(r, {"1", "2", "3"}, {"3"}, false), (List{"1", "3"}));
  EXPECT_EQ(Select(r, {"2", "3"}, {"3"}, false), List{"3"}) << "its files are gone";
}

TEST(Release, ReplacesAStableVersionThatIsGone) {
  Release r;
  r.SetStable("2");
  r.candidate = "3";
  EXPECT_EQ(Update(r, {"1", "3"}), "stable 1, start 3");
  EXPECT_EQ(Update(r, {"3"}), "stable 3") << "better than none";
  Release pinned;
  pinned.SetStable("1");
  pinned.pinned = true;
  pinned.Reject("2", "");
  EXPECT_EQ(Update(pinned, {"2"}), "unpin 1, stable 2");
}

TEST(StateFile, KeepsEverything) {
  Releases releases;
  Release& r = releases["a \"model\""];
  r.stable = "1";
  r.candidate = "2";
  r.pinned = true;
  r.Reject("3", "it\nfailed");
  r.step = 2;
  r.weight = 12.5;
  r.policy = R"({"steps":[1]})";
  r.labels["beta"] = "2";
  for (int i = 0; i < 40; ++i) r.Add({i, "start", "2", "why"});
  releases["empty"];
  const std::string text = ReleasesText(releases);
  const auto again = ParseReleases(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->size(), 1u);
  EXPECT_EQ(ReleasesText(*again), text);
  const Release& read = again->begin()->second;
  EXPECT_EQ(read.weight, 12.5);
  EXPECT_EQ(read.step, 2u);
  ASSERT_EQ(read.history.size(), 32u);
  EXPECT_EQ(read.history.back().time, 39);
}

TEST(StateFile, RefusesDamage) {
  for (const char* text : {"", "{}", "[]", R"({"format":2,"models":{}})", R"({"format":1,"models":{"m":[]}})",
                           R"({"format":1,"models":{"m":{"stable":1}}})",
                           R"({"format":1,"models":{"m":{"step":-1}}})", R"({"format":1,"models":{}} x)"})
    EXPECT_FALSE(ParseReleases(text).ok()) << text;
  EXPECT_TRUE(ParseReleases(R"({"format":1,"models":{"m":{"later":[1]}}})").ok()) << "of a newer server";
}

TEST(StateFile, IsReplacedAtOnce) {
  const std::string folder = (std::filesystem::temp_directory_path() / "tern-rollout-XXXXXX").string();
  std::string path = folder;
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  const std::string file = path + "/state.json";
  EXPECT_TRUE(ReadReleases(file)->empty()) << "no file yet";
  Releases releases;
  releases["m"].stable = "4";
  ASSERT_TRUE(WriteReleases(file, releases).ok());
  EXPECT_EQ(ReadReleases(file)->at("m").stable, "4");
  std::ofstream(file) << "{";
  const auto damaged = ReadReleases(file);
  ASSERT_FALSE(damaged.ok());
  EXPECT_NE(damaged.status().message().find("is damaged: byte"), std::string::npos);
  EXPECT_FALSE(WriteReleases(path + "/none/state.json", releases).ok());
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace tern::server
