// For tests: access files in a temporary folder.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "server/access/access.h"
#include "server/access/token.h"

namespace tern::server {

class TestFolder {
 public:
  TestFolder() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  std::string Read(const std::string& name) const {
    std::ifstream file(Path(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_ = "/tmp/tern_access_XXXXXX";
};

// An entry whose token is "NAME-token". `more` are further lines, each with two spaces before it.
inline std::string TokenEntry(const std::string& name, const std::string& roles,
                              const std::string& more = "") {
  return "- name: " + name + "\n  hash: " + HashText(HashToken(name + "-token")) + "\n  roles: [" + roles +
         "]\n" + more;
}

inline std::string AllRoles() {
  return TokenEntry("runner", "infer") + TokenEntry("watcher", "observe") +
         TokenEntry("mapper", "shared-memory") + TokenEntry("boss", "admin") +
         TokenEntry("limited", "infer, observe, admin", "  models: ['echo*']\n") +
         TokenEntry("old", "admin", "  expires: 2020-01-01\n");
}

inline std::unique_ptr<AccessControl> OpenAccess(const TestFolder& folder, const std::string& text,
                                                 AccessOptions options = {}) {
  options.file = folder.Write("access.yml", text);
  auto access = AccessControl::Open(options);
  EXPECT_TRUE(access.ok()) << access.status().ToString();
  return access.ok() ? std::move(*access) : nullptr;
}

}  // namespace tern::server
