// Says which requests exist near one whose path or method is wrong.
#pragma once
#include <string>
#include <string_view>

#include "server/http/route.h"

namespace tern::server {

// Returns the error text for a target that no route matches. It begins with "Not Found" and names the routes
// with the same first segments. `base` is the prefix of all paths before /v2.
std::string NotFoundText(std::string_view target, std::string_view base);
// The same for a target on the metrics port.
std::string NoMetricsText();
// The same for a request for metrics on the HTTP port, where they are not served.
std::string MetricsElsewhereText();
// Returns the error text for a method that the route does not have.
std::string WrongMethodText(RouteKind kind);

}  // namespace tern::server
