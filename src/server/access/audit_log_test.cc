#include "server/access/audit_log.h"

#include "server/access/test_support.h"

namespace tern::server {
namespace {

const AuditAction kAction{"boss", "10.0.0.1:5",  "http", "/v2/repository/models/m/load",
                          "m",    "{\"a\":1}\n", 8};

TEST(AuditLog, WritesALineBeforeAndAfterAnAction) {
  const TestFolder folder;
  folder.Write("audit.json", "earlier\n");
  auto log = AuditLog::Open({folder.Path("audit.json"), true});
  ASSERT_TRUE(log.ok());
  uint64_t number = 0;
  ASSERT_TRUE((*log)->Begin(kAction, number).ok());
  const std::string begun = folder.Read("audit.json");
  EXPECT_EQ(begun.find("earlier\n{\"time\":\"20"), 0u) << "appended";
  EXPECT_NE(begun.find("\"event\":\"start\""), std::string::npos);
  EXPECT_NE(
      begun.find(
          R"("number":1,"user":"boss","address":"10.0.0.1:5","protocol":"http",)"
          R"("target":"/v2/repository/models/m/load","name":"m","body_bytes":8,"detail":"{\"a\":1}\n"})"),
      std::string::npos)
      << begun;
  (*log)->End(kAction, number, 400, "no such model");
  const std::string ended = folder.Read("audit.json").substr(begun.size());
  EXPECT_NE(ended.find("\"event\":\"end\""), std::string::npos);
  EXPECT_NE(ended.find("\"status\":400,\"error\":\"no such model\"}\n"), std::string::npos) << ended;
  ASSERT_TRUE((*log)->Begin(kAction, number).ok());
  EXPECT_EQ(number, 2u);
}

TEST(AuditLog, AFullDiskRefusesTheAction) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "the system has no /dev/full";
  auto log = AuditLog::Open({"/dev/full", true});
  ASSERT_TRUE(log.ok());
  uint64_t number = 0;
  const Status status = (*log)->Begin(kAction, number);
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find("No space left"), std::string::npos) << status.message();
  EXPECT_EQ((*log)->failures(), 1u);
  auto lenient = AuditLog::Open({"/dev/full", false});
  ASSERT_TRUE(lenient.ok());
  EXPECT_TRUE((*lenient)->Begin(kAction, number).ok());
  (*lenient)->End(kAction, number, 200, "");
  EXPECT_EQ((*lenient)->failures(), 2u);
}

TEST(AuditLog, ReopensARenamedFile) {
  const TestFolder folder;
  auto log = AuditLog::Open({folder.Path("audit.json"), true});
  ASSERT_TRUE(log.ok());
  std::filesystem::rename(folder.Path("audit.json"), folder.Path("old.json"));
  (*log)->Reopen();
  uint64_t number = 0;
  ASSERT_TRUE((*log)->Begin(kAction, number).ok());
  EXPECT_EQ(folder.Read("old.json"), "");
  EXPECT_NE(folder.Read("audit.json"), "");
  EXPECT_FALSE(AuditLog::Open({folder.Path("no/such/folder"), true}).ok());
}

}  // namespace
}  // namespace tern::server
