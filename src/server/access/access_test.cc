#include "server/access/test_support.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

using Kind = Refusal::Kind;

constexpr Operation kInferOperation{ApiGroup::kInference, Right::kInfer};
constexpr Operation kHealthOperation{ApiGroup::kHealth, Right::kHealth};
constexpr Operation kMetricsOperation{ApiGroup::kMetrics, Right::kObserve};

class AccessTest : public testing::Test {
 protected:
  Kind Enter(const std::string& authorization, const Operation& operation = kInferOperation,
             const std::string& peer = "10.0.0.1:1") {
    const Credentials credentials{1, authorization, nullptr, AddressKey(peer)};
    return access->Enter(credentials, operation, visitor).kind;
  }
  TestFolder folder;
  std::unique_ptr<AccessControl> access = OpenAccess(folder, AllRoles());
  Visitor visitor;
};

TEST_F(AccessTest, IdentifiesByToken) {
  EXPECT_EQ(Enter("Bearer runner-token"), Kind::kNone);
  EXPECT_EQ(visitor.name(), "runner");
  EXPECT_EQ(Enter("Bearer watcher-token"), Kind::kDenied);
  EXPECT_EQ(Enter("Bearer boss-token"), Kind::kNone);
  for (const char* wrong : {"Bearer runner-tokeN", "Bearer runner", "runner-token", "", "Bearer old-token"})
    EXPECT_EQ(Enter(wrong), Kind::kUnauthenticated) << wrong;
  EXPECT_EQ(visitor.name(), "");
  const Credentials twice{2, "Bearer runner-token", nullptr, 0};
  EXPECT_EQ(access->Enter(twice, kInferOperation, visitor).kind, Kind::kUnauthenticated);
}

TEST_F(AccessTest, SaysTheSameForEveryWrongToken) {
  const auto text = [&](const std::string& authorization, size_t fields) {
    return access->Enter({fields, authorization, nullptr, 0}, kInferOperation, visitor).message;
  };
  const std::string missing = text("", 0);
  for (const char* wrong : {"Bearer x", "Bearer old-token", "Basic YTpi", "Bearer runner-token "})
    EXPECT_EQ(text(wrong, 1), missing) << wrong;
  EXPECT_EQ(text("Bearer watcher-token", 1), "the client is not permitted to do this");
}

TEST_F(AccessTest, OpensHealthAndMetricsAsTheOptionsSay) {
  const Credentials none{0, "", nullptr, 0};
  EXPECT_EQ(access->Enter(none, kHealthOperation, visitor).kind, Kind::kNone);
  EXPECT_TRUE(visitor.anonymous);
  EXPECT_FALSE(visitor.PermitsModel("m")) << "an anonymous client learns nothing about models";
  EXPECT_EQ(access->CheckModel(visitor, "m").kind, Kind::kUnauthenticated);
  EXPECT_EQ(access->Enter(none, kMetricsOperation, visitor).kind, Kind::kUnauthenticated);
  EXPECT_EQ(Enter("Bearer wrong", kHealthOperation), Kind::kNone);
  EXPECT_EQ(Enter("Bearer runner-token", kMetricsOperation), Kind::kDenied);
  EXPECT_EQ(Enter("Bearer watcher-token", kMetricsOperation), Kind::kNone);
  AccessOptions closed;
  closed.open_health = false;
  closed.open_metrics = true;
  access = OpenAccess(folder, AllRoles(), closed);
  EXPECT_EQ(access->Enter(none, kHealthOperation, visitor).kind, Kind::kUnauthenticated);
  EXPECT_EQ(access->Enter(none, kMetricsOperation, visitor).kind, Kind::kNone);
}

TEST_F(AccessTest, LimitsModels) {
  ASSERT_EQ(Enter("Bearer limited-token"), Kind::kNone);
  EXPECT_EQ(access->CheckModel(visitor, "echo-2").kind, Kind::kNone);
  EXPECT_EQ(access->CheckModel(visitor, "other").kind, Kind::kDenied);
  EXPECT_EQ(access->CheckModel(visitor, "missing").message, access->CheckModel(visitor, "other").message);
  EXPECT_EQ(access->CheckAllModels(visitor).kind, Kind::kDenied);
  ASSERT_EQ(Enter("Bearer runner-token"), Kind::kNone);
  EXPECT_EQ(access->CheckAllModels(visitor).kind, Kind::kNone);
}

TEST_F(AccessTest, IdentifiesByCertificate) {
  access = OpenAccess(folder,
                      "- name: trainer\n  subject: CN=trainer,O=Example\n  roles: [infer]\n"
                      "- name: mesh\n  san: URI:spiffe://example/a\n  roles: [admin]\n" +
                          TokenEntry("runner", "infer"));
  const auto soon = std::chrono::system_clock::now() + std::chrono::hours(1);
  PeerCertificate certificate{"CN=trainer,O=Example", {"DNS:x"}, soon};
  const auto enter = [&](size_t fields, std::string_view authorization) {
    return access->Enter({fields, authorization, &certificate, 0}, kInferOperation, visitor).kind;
  };
  EXPECT_EQ(enter(0, ""), Kind::kNone);
  EXPECT_EQ(visitor.name(), "trainer");
  EXPECT_EQ(visitor.expires, soon);
  EXPECT_EQ(enter(1, "Bearer wrong"), Kind::kUnauthenticated) << "a wrong token is not made good";
  EXPECT_EQ(enter(1, "Bearer runner-token"), Kind::kNone);
  EXPECT_EQ(visitor.name(), "runner");
  certificate = {"CN=trainer2", {"DNS:x", "URI:spiffe://example/a"}, soon};
  EXPECT_EQ(enter(0, ""), Kind::kNone);
  EXPECT_EQ(visitor.name(), "mesh");
  certificate.names = {"URI:spiffe://example/ab", "DNS:spiffe://example/a"};
  EXPECT_EQ(enter(0, ""), Kind::kUnauthenticated);
  certificate = {"CN=trainer,O=Example", {}, std::chrono::system_clock::now() - std::chrono::seconds(1)};
  EXPECT_EQ(enter(0, ""), Kind::kUnauthenticated) << "it expired while the connection was open";
}

TEST_F(AccessTest, ReloadRevokesWhatIsGone) {
  ASSERT_EQ(Enter("Bearer runner-token"), Kind::kNone);
  const Visitor runner = visitor;
  ASSERT_EQ(Enter("Bearer boss-token"), Kind::kNone);
  const Visitor boss = visitor;
  folder.Write("access.yml", TokenEntry("boss", "admin") + TokenEntry("fresh", "infer"));
  access->Reload();
  EXPECT_FALSE(runner.Valid());
  EXPECT_TRUE(boss.Valid());
  EXPECT_EQ(Enter("Bearer runner-token"), Kind::kUnauthenticated);
  EXPECT_EQ(Enter("Bearer fresh-token"), Kind::kNone);
  ASSERT_EQ(Enter("Bearer boss-token"), Kind::kNone);
  EXPECT_EQ(visitor.identity, boss.identity);
  // A change of an entry revokes what was permitted before.
  folder.Write("access.yml", TokenEntry("boss", "infer"));
  access->Reload();
  EXPECT_FALSE(boss.Valid());
}

TEST_F(AccessTest, ReloadKeepsTheEntriesIfTheFileHasErrors) {
  folder.Write("access.yml", "- broken");
  for (int i = 0; i < 3; ++i) access->Reload();
  EXPECT_EQ(Enter("Bearer runner-token"), Kind::kNone);
  std::filesystem::remove(folder.Path("access.yml"));
  access->Reload();
  EXPECT_EQ(Enter("Bearer runner-token"), Kind::kNone);
  MetricsText text;
  access->AppendMetrics(text);
  EXPECT_NE(text.Take().find("tern_access_reloads_total{result=\"failure\"} 2\n"), std::string::npos)
      << "each error counts once";
}

TEST_F(AccessTest, BlocksAnAddressThatGuesses) {
  AccessOptions options;
  options.failures_per_minute = 5;
  access = OpenAccess(folder, AllRoles(), options);
  ASSERT_EQ(Enter("Bearer runner-token"), Kind::kNone) << "used before the guesses";
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Enter("Bearer guess" + std::to_string(i)), Kind::kUnauthenticated);
  const Credentials guess{1, "Bearer guess", nullptr, AddressKey("10.0.0.1:1")};
  const Refusal blocked = access->Enter(guess, kInferOperation, visitor);
  EXPECT_EQ(blocked.kind, Kind::kExhausted);
  EXPECT_GT(blocked.retry_after.count(), 0);
  const Credentials right{1, "Bearer boss-token", nullptr, AddressKey("10.0.0.1:1")};
  EXPECT_EQ(access->Enter(right, kInferOperation, visitor).message, blocked.message)
      << "a right guess looks like a wrong one";
  EXPECT_EQ(Enter("Bearer runner-token"), Kind::kNone) << "clients behind the same address go on";
  EXPECT_EQ(Enter("Bearer boss-token", kInferOperation, "10.7.0.2:1"), Kind::kNone);
  const Credentials none{0, "", nullptr, AddressKey("10.0.0.1:1")};
  EXPECT_EQ(access->Enter(none, kInferOperation, visitor).kind, Kind::kUnauthenticated);
}

TEST_F(AccessTest, CountsAgainstTheQuotaOfTheTenant) {
  const std::string quota = "  tenant: team\n  quota: {requests_per_s: 0.001, burst: 3, concurrency: 1}\n";
  access = OpenAccess(folder, TokenEntry("a", "infer", quota) + TokenEntry("b", "infer", quota));
  EXPECT_EQ(Enter("Bearer a-token"), Kind::kNone);
  EXPECT_EQ(Enter("Bearer b-token"), Kind::kNone);
  EXPECT_EQ(Enter("Bearer a-token", kHealthOperation), Kind::kNone) << "not counted";
  Permit one, two;
  EXPECT_FALSE(access->Admit(visitor, 0, one).refused());
  EXPECT_EQ(access->Admit(visitor, 0, two).kind, Kind::kExhausted);
  EXPECT_EQ(Enter("Bearer a-token"), Kind::kNone);
  EXPECT_EQ(Enter("Bearer b-token"), Kind::kExhausted);
  MetricsText text;
  access->AppendMetrics(text);
  const std::string all = text.Take();
  for (const char* line :
       {"tern_tenant_requests_total{tenant=\"team\"} 4\n", "tern_tenant_in_flight{tenant=\"team\"} 1\n",
        "tern_tenant_refused_total{tenant=\"team\",quota=\"rate\"} 1\n",
        "tern_tenant_refused_total{tenant=\"team\",quota=\"concurrency\"} 1\n"})
    EXPECT_NE(all.find(line), std::string::npos) << line << all;
}

TEST_F(AccessTest, MetricsHaveABoundedNumberOfTenants) {
  std::string entries;
  for (int i = 0; i < 300; ++i) entries += TokenEntry("t" + std::to_string(i), "infer");
  access = OpenAccess(folder, entries);
  for (int i = 0; i < 300; ++i) Enter("Bearer t" + std::to_string(i) + "-token");
  MetricsText text;
  access->AppendMetrics(text);
  const std::string all = text.Take();
  EXPECT_NE(all.find("tern_tenant_requests_total{tenant=\"(others)\"} 200\n"), std::string::npos);
  EXPECT_EQ(all.find("{tenant=\"t100\"}"), std::string::npos);
}

TEST(AccessControl, RefusesABadFileAtTheStart) {
  const TestFolder folder;
  AccessOptions options;
  options.file = folder.Path("none.yml");
  EXPECT_FALSE(AccessControl::Open(options).ok());
  options.file = folder.Write("bad.yml", "- name: a\n  roles: [king]\n");
  const auto opened = AccessControl::Open(options);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.status().message().find("line 2: 'king' is no role"), std::string::npos)
      << opened.status().message();
}

}  // namespace
}  // namespace tern::server
