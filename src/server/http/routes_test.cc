// Compares the table of routes, which the documentation shows, with the functions that handle requests.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/http/route.h"

namespace tern::server {
namespace {

struct Row {
  RouteKind kind;
  std::string methods, operation, path;
};

const std::vector<Row>& Rows() {
  static const auto* rows = new std::vector<Row>{
#define TERN_ROUTE(kind, methods, operation, path, summary) {RouteKind::kind, methods, operation, path},
#include "server/http/routes.inc"
#undef TERN_ROUTE
  };
  return *rows;
}

// Returns the path with its optional part and without it.
std::vector<std::string> Variants(const std::string& path) {
  const size_t open = path.find('['), close = path.find(']');
  if (open == path.npos) return {path};
  return {path.substr(0, open) + path.substr(close + 1),
          path.substr(0, open) + path.substr(open + 1, close - open - 1) + path.substr(close + 1)};
}

std::string Filled(std::string path) {
  for (const auto& [name, value] : {std::pair("{model}", "m"),
                                    {"{version}", "3"},
                                    {"{label}", "stable"},
                                    {"{region}", "r"},
                                    {"{repository}", "all"}})
    if (const size_t at = path.find(name); at != path.npos) path.replace(at, std::string(name).size(), value);
  return path;
}

TEST(Routes, TheTableIsRight) {
  for (const Row& row : Rows()) {
    EXPECT_EQ(AllowedMethods(row.kind), row.methods) << row.path;
    for (const std::string& variant : Variants(row.path)) {
      const Route route = ParseRoute(Filled(variant));
      EXPECT_EQ(route.kind, row.kind) << variant;
      EXPECT_EQ(route.model, variant.find("{model}") != variant.npos ? "m" : "") << variant;
      EXPECT_EQ(route.version, variant.find("{version}") != variant.npos ? "3" : "") << variant;
      EXPECT_EQ(route.label, variant.find("{label}") != variant.npos ? "stable" : "") << variant;
      EXPECT_EQ(route.region, variant.find("{region}") != variant.npos ? "r" : "") << variant;
    }
  }
}

TEST(Routes, RestrictionsApplyAsTheTableSays) {
  for (const Row& row : Rows()) {
    Restrictions restrictions;
    if (row.operation.empty()) {
      EXPECT_EQ(GroupOf(row.kind), ApiGroup::kNone) << row.path;
      continue;
    }
    ASSERT_TRUE(restrictions.Add(row.operation + ":k=v", "", "api").ok()) << row.operation;
    EXPECT_TRUE(restrictions.Missing(GroupOf(row.kind), {})) << row.path;
    EXPECT_FALSE(restrictions.Missing(GroupOf(row.kind), {{"k", "v"}})) << row.path;
  }
}

}  // namespace
}  // namespace tern::server
