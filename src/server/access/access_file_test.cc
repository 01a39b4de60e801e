#include "server/access/access_file.h"

#include "server/access/new_token.h"
#include "server/access/test_support.h"

namespace tern::server {
namespace {

TEST(AccessFile, ReadsEntries) {
  const std::string hash = HashText(HashToken("x"));
  const auto entries = ParseAccessFile(
      "- name: alice\n  tenant: team\n  hash: " + hash +
      "\n  roles: [infer, observe]\n  models: [bert-*, digits]\n  expires: 2030-01-31T12:00:00Z\n"
      "  quota: {requests_per_s: 10.5, burst: 20, concurrency: 3, bytes_per_s: 1e6, queued_bytes: 100, weight: 4}\n"
      "- name: trainer\n  subject: CN=trainer,O=Example\n  roles: [admin]\n"
      "- name: mesh\n  san: URI:spiffe://example/ns/a\n  roles: [shared-memory]\n");
  ASSERT_TRUE(entries.ok()) << entries.status().ToString();
  ASSERT_EQ(entries->size(), 3u);
  const AccessEntry& alice = (*entries)[0];
  EXPECT_EQ(alice.tenant, "team");
  EXPECT_EQ(alice.roles, kRoleInfer | kRoleObserve);
  EXPECT_EQ(alice.models, (std::vector<std::string>{"bert-*", "digits"}));
  EXPECT_EQ(TimeText(alice.expires), "2030-01-31T12:00:00Z");
  EXPECT_EQ(alice.quota, (Quota{10.5, 20, 3, 1e6, 100, 4}));
  EXPECT_EQ((*entries)[1].tenant, "trainer");
  EXPECT_EQ((*entries)[1].subject, "CN=trainer,O=Example");
  // What is written can be read.
  std::string text;
  for (const AccessEntry& entry : *entries) text += EntryText(entry);
  const auto again = ParseAccessFile(text);
  ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << text;
  EXPECT_EQ(*again, *entries);
  EXPECT_TRUE(ParseAccessFile("")->empty());
  EXPECT_EQ(TimeText(*ParseTime("2261-12-31T23:59:59Z")), "2261-12-31T23:59:59Z");
}

TEST(AccessFile, RefusesMistakes) {
  const std::string hash = "  hash: " + HashText(HashToken("x")) + "\n";
  const std::pair<std::string, const char*> bad[] = {
      {"name: a\n", "not a list"},
      {"- [", "line"},
      {"- a\n", "line 1: an entry must be a map"},
      {"- roles: [infer]\n" + hash, "no 'name'"},
      {"- name: a\n" + hash, "'a' has no 'roles'"},
      {"- name: a\n  roles: [infer]\n", "exactly one of"},
      {"- name: a\n  roles: [infer]\n  san: DNS:x\n" + hash, "exactly one of"},
      {"- name: a\n  roles: [root]\n" + hash, "'root' is no role"},
      {"- name: a\n  roles: []\n" + hash, "'roles' must be a list"},
      {"- name: a\n  roles: infer\n" + hash, "'roles' must be a list"},
      {"- name: a\n  models: []\n  roles: [infer]\n" + hash, "'models' must be a list"},
      {"- name: a\n  role: [infer]\n" + hash, "unknown key 'role'"},
      {"- name: a\n  name: b\n  roles: [infer]\n" + hash, "repeated"},
      {"- name: \"a\\nb\"\n  roles: [infer]\n" + hash, "control characters"},
      {"- name: a\xFF\n  roles: [infer]\n" + hash, "of UTF-8"},
      {"- name: a\n  roles: [infer]\n  hash: secret\n", "line 3: 'hash' must be 'sha256:'"},
      {"- name: a\n  roles: [infer]\n  san: trainer\n", "must begin with DNS:"},
      {"- name: a\n  roles: [infer]\n  expires: tomorrow\n" + hash, "'tomorrow' is not a time"},
      {"- name: a\n  roles: [infer]\n  expires: 2030-02-30\n" + hash, "'2030-02-30' is not a time"},
      {"- name: a\n  roles: [infer]\n  expires: 1969-12-31\n" + hash, "'1969-12-31' is not a time"},
      {"- name: a\n  roles: [infer]\n  expires: 2262-01-01\n" + hash, "'2262-01-01' is after 2261"},
      {"- name: a\n  roles: [infer]\n  expires: 8425-01-31T12:00:00Z\n" + hash,
       "line 3: 'expires': '8425-01-31T12:00:00Z' is after 2261, the last possible year; an entry without 'expires' "
       "has no end"},
      {"- name: a\n  roles: [infer]\n  quota: {rate: 1}\n" + hash, "unknown key 'rate'"},
      {"- name: a\n  roles: [infer]\n  quota: {requests_per_s: -1}\n" + hash, "must be a number from"},
      {"- name: a\n  roles: [infer]\n  quota: {requests_per_s: nan}\n" + hash, "must be a number from"},
      {"- name: a\n  roles: [infer]\n  quota: {concurrency: 1.5}\n" + hash, "must be an integer"},
      {"- name: a\n  roles: [infer]\n  quota: {burst: 5}\n" + hash, "needs 'requests_per_s'"},
      {TokenEntry("a", "infer") + TokenEntry("a", "admin"), "two entries have the name 'a'"},
      {"- name: a\n  roles: [infer]\n" + hash + "- name: b\n  roles: [infer]\n" + hash, "of another entry"},
      {TokenEntry("a", "infer", "  tenant: t\n") +
           TokenEntry("b", "infer", "  tenant: t\n  quota: {weight: 2}\n"),
       "different quotas"}};
  for (const auto& [text, message] : bad) {
    const auto entries = ParseAccessFile(text);
    ASSERT_FALSE(entries.ok()) << text;
    EXPECT_NE(entries.status().message().find(message), std::string::npos)
        << text << entries.status().message();
  }
}

TEST(NewToken, IsAppendedToTheFile) {
  const AccessFolder folder;
  TokenCommand command;
  command.file = folder.Path("access.yml");
  command.name = "alice: \"quoted\"";
  command.roles = {"infer"};
  command.models = {"bert-*"};
  command.expires = "90d";
  command.requests_per_s = 100;
  const auto token = AddToken(command);
  ASSERT_TRUE(token.ok()) << token.status().ToString();
  EXPECT_EQ(std::filesystem::status(command.file).permissions() & std::filesystem::perms::group_all,
            std::filesystem::perms::none);
  EXPECT_EQ(folder.Read("access.yml").find(*token), std::string::npos) << "only the hash is stored";
  const auto entries = ParseAccessFile(folder.Read("access.yml"));
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(entries->at(0).name, command.name);
  EXPECT_TRUE(SameHash(*entries->at(0).hash, HashToken(*token)));
  EXPECT_GT(entries->at(0).expires, std::chrono::system_clock::now() + std::chrono::hours(89 * 24));
  // A second token of the tenant gets the tenant's quota.
  TokenCommand second;
  second.file = command.file;
  second.name = "bob";
  second.tenant = command.name;
  second.roles = {"observe", "infer"};
  ASSERT_TRUE(AddToken(second).ok());
  EXPECT_EQ(ParseAccessFile(folder.Read("access.yml"))->at(1).quota.requests_per_s, 100);
  EXPECT_FALSE(AddToken(second).ok()) << "the name exists";
  second.name = "carol";
  second.roles = {"king"};
  EXPECT_FALSE(AddToken(second).ok());
  second.roles = {"infer"};
  second.expires = "0d";
  EXPECT_FALSE(AddToken(second).ok());
  second.expires = "100000d";
  const auto late = AddToken(second);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.status().message().find("'100000d' is after 2261"), std::string::npos)
      << late.status().message();
}

TEST(NewToken, LeavesAFileThatItCannotExtend) {
  const AccessFolder folder;
  TokenCommand command;
  command.name = "a";
  command.roles = {"infer"};
  const std::string style = "[{name: x, san: 'DNS:x', roles: [infer]}]\n";
  for (const std::string& text : {std::string("- broken: [\n"), style, std::string("a: b\n")}) {
    command.file = folder.Write("access.yml", text);
    EXPECT_FALSE(AddToken(command).ok()) << text;
    EXPECT_EQ(folder.Read("access.yml"), text);
  }
  command.file = folder.Write("access.yml", "# no line end at the end");
  EXPECT_TRUE(AddToken(command).ok());
}

TEST(NewToken, LeavesNothingIfItIsRefused) {
  const AccessFolder folder;
  TokenCommand command;
  command.file = folder.Path("access.yml");
  command.name = "a";
  command.roles = {"infer"};
  command.tenant = "a\tb";
  EXPECT_FALSE(AddToken(command).ok());
  command.tenant = "";
  command.name = "";
  EXPECT_FALSE(AddToken(command).ok());
  EXPECT_FALSE(std::filesystem::exists(command.file));
}

}  // namespace
}  // namespace tern::server
