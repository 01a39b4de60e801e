#include "server/main/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <map>

#include "server/main/setting_table.h"

namespace tern::server {
namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

Result<ServeOptions> Read(const Names& flags, std::map<std::string, std::string> variables = {}) {
  return ReadOptions(flags, [variables](const std::string& name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

class File {
 public:
  explicit File(const std::string& text) {
    close(mkstemp(path_.data()));
    std::ofstream(path_) << text;
  }
  ~File() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/tern_options_XXXXXX";
};

TEST(Options, DefaultsAreTritonsPorts) {
  const auto o = Read({});
  ASSERT_TRUE(o.ok()) << o.status().ToString();
  EXPECT_EQ(o->http.listen.port, 8000);
  EXPECT_EQ(o->grpc.listen.port, 8001);
  EXPECT_EQ(o->metrics.port, 8002);
  EXPECT_EQ(o->exit_timeout, std::chrono::seconds(30));
  EXPECT_FALSE(o->shared_memory);
  EXPECT_EQ(o->observe.trace.level, std::vector<std::string>{"OFF"});
}

TEST(Options, EveryRowOfTheTableHasASetter) {
  for (const SettingRow& row : kServeSettings) {
    ServeOptions o;
    const Status status = ApplySetting(row.name, "?", o);
    EXPECT_EQ(status.message().find("unknown setting"), std::string::npos) << row.name;
  }
}

TEST(Options, FlagsWinOverEnvironmentOverFile) {
  const File file("http_port: 1\ngrpc-port: 2\nmetrics-port: 3\nrepository: [/a, /b]\n");
  const auto o = Read({{"config", file.path()}, {"http-port", "10"}},
                      {{"TERN_SERVE_HTTP_PORT", "20"}, {"TERN_SERVE_GRPC_PORT", "21"}});
  ASSERT_TRUE(o.ok()) << o.status().ToString();
  EXPECT_EQ(o->http.listen.port, 10);
  EXPECT_EQ(o->grpc.listen.port, 21);
  EXPECT_EQ(o->metrics.port, 3);
  EXPECT_EQ(o->repository.folders, (std::vector<std::string>{"/a", "/b"}));
}

TEST(Options, ListsComeFromOneSource) {
  const auto o = Read({{"repository", "/x"}, {"repository", "/y"}}, {{"TERN_SERVE_REPOSITORY", "/z"}});
  ASSERT_TRUE(o.ok());
  EXPECT_EQ(o->repository.folders, (std::vector<std::string>{"/x", "/y"}));
}

TEST(Options, RestrictedApis) {
  const Headers headers = {{"k2", "v2"}};
  const auto missing = [&](const Result<ServeOptions>& o) {
    EXPECT_TRUE(o.ok()) << o.status().ToString();
    return o.ok() && o->http.restrictions.Missing(ApiGroup::kHealth, headers) &&
           o->http.restrictions.Missing(ApiGroup::kMetadata, headers) &&
           !o->http.restrictions.Missing(ApiGroup::kTrace, headers);
  };
  EXPECT_TRUE(missing(
      Read({{"http-restricted-api", "health,metadata:k1=v1"}, {"http-restricted-api", "trace:k2=v2"}})));
  EXPECT_TRUE(missing(Read({}, {{"TERN_SERVE_HTTP_RESTRICTED_API", "health,metadata:k1=v1;trace:k2=v2"}})));
  const File file("http-restricted-api: ['health,metadata:k1=v1', 'trace:k2=v2']\n");
  EXPECT_TRUE(missing(Read({{"config", file.path()}})));
  const auto grpc = Read({{"grpc-restricted-protocol", "logging:Admin=x"}});
  ASSERT_TRUE(grpc.ok());
  EXPECT_EQ(grpc->grpc.restrictions.Missing(ApiGroup::kLogging, {})->header, "triton-grpc-protocol-Admin");
}

TEST(Options, TritonsNamesAreAliases) {
  const auto o = Read({{"model-repository", "/m"},
                       {"model-control-mode", "explicit"},
                       {"load-model", "a"},
                       {"exit-on-error", "false"},
                       {"allow-client-shm", "true"},
                       {"http-max-input-size", "5"}});
  ASSERT_TRUE(o.ok()) << o.status().ToString();
  EXPECT_EQ(o->repository.folders[0], "/m");
  EXPECT_EQ(o->repository.control, ControlMode::kExplicit);
  EXPECT_EQ(o->repository.load_at_start[0], "a");
  EXPECT_EQ(o->repository.must_load, MustLoad::kNone);
  EXPECT_EQ(Read({})->repository.must_load, MustLoad::kFlatModels);
  EXPECT_EQ(Read({{"strict", "true"}})->repository.must_load, MustLoad::kAll);
  EXPECT_TRUE(o->shared_memory);
  EXPECT_EQ(o->limits.body_bytes, 5u);
}

TEST(Options, AnAddressOfAPortIsStronger) {
  const auto o = Read({{"http-address", "unix:/s"}, {"address", "127.0.0.1"}});
  ASSERT_TRUE(o.ok());
  EXPECT_EQ(o->http.listen.address, "unix:/s");
  EXPECT_EQ(o->grpc.listen.address, "127.0.0.1");
  const File file("address: 10.0.0.1\n");
  const auto mixed = Read({{"config", file.path()}, {"http-address", "::1"}});
  ASSERT_TRUE(mixed.ok());
  EXPECT_EQ(mixed->http.listen.address, "::1");
  EXPECT_EQ(mixed->metrics.address, "10.0.0.1");
}

TEST(Options, ATraceDestinationTurnsTracesOn) {
  EXPECT_EQ(Read({{"trace-endpoint", "http://h:1/"}})->observe.trace.level[0], "TIMESTAMPS");
  EXPECT_EQ(Read({{"trace-file", "/t"}, {"trace-level", "OFF"}})->observe.trace.level[0], "OFF");
}

TEST(Options, TheMemoryBudgetHasSuffixes) {
  for (const auto& [text, bytes] :
       {std::pair("800M", uint64_t{800} << 20), {"4G", uint64_t{4} << 30}, {"123", 123}}) {
    const auto o = Read({{"memory-budget", text}, {"change-order", "unload-first"}, {"pin-model", "a"}});
    ASSERT_TRUE(o.ok()) << o.status().ToString();
    EXPECT_EQ(o->repository.memory_budget, bytes);
    EXPECT_EQ(o->repository.order, ChangeOrder::kUnloadFirst);
    EXPECT_EQ(o->repository.pinned, std::vector<std::string>{"a"});
  }
  for (const char* text : {"", "M", "0", "-1G", "4X", "1.5G", "2000000T", "99999999999999999999"})
    EXPECT_FALSE(Read({{"memory-budget", text}}).ok()) << text;
}

TEST(Options, TrialsHaveALimit) {
  EXPECT_EQ(Read({{"trial-timeout-secs", "7"}})->repository.trial_limit, std::chrono::seconds(7));
  EXPECT_FALSE(Read({{"trial-timeout-secs", "0"}}).ok());
}

TEST(Options, RefusesBadValues) {
  const Names bad[] = {{{"http-port", "65536"}},
                       {{"http-port", "x"}},
                       {{"http-port", "-1"}},
                       {{"model", "nopath"}},
                       {{"model", "=x"}},
                       {{"model", "n="}},
                       {{"model-control", "x"}},
                       {{"nonsense", "1"}},
                       {{"strict", "maybe"}},
                       {{"tls-key", "k"}},
                       {{"tls-client-ca", "c"}},
                       {{"http-restricted-api", "health"}},
                       {{"grpc-restricted-protocol", "healthy:k=v"}},
                       {{"http-header-forward-pattern", "("}},
                       {{"log-verbose", "-1"}},
                       {{"threads", "99999999999999999999"}},
                       {{"config", "/none.yml"}},
                       {{"http-port", "1"}, {"http-port", "2"}},
                       {{"allow-http", "false"}, {"allow-grpc", "false"}}};
  for (const Names& flags : bad) EXPECT_FALSE(Read(flags).ok()) << flags[0].first << "=" << flags[0].second;
  EXPECT_EQ(Read({{"http-port", "x"}}).status().message(), "command line: http-port: 'x' is not an integer");
  EXPECT_EQ(
      Read({{"model", "models/net.onnx"}}).status().message(),
      "command line: model: 'models/net.onnx' is not of the form NAME=PATH, such as net=models/net.onnx");
}

TEST(Options, RefusesBadFiles) {
  for (const char* text : {"a: [", "- 1\n- 2\n", "http-port: {a: 1}\n", "? [a]\n: 1\n", "unknown: 1\n"}) {
    const File file(text);
    EXPECT_FALSE(Read({{"config", file.path()}}).ok()) << text;
  }
  const File empty("");
  EXPECT_TRUE(Read({{"config", empty.path()}}).ok());
}

}  // namespace
}  // namespace tern::server
