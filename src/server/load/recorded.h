// Reads requests that were recorded, for example by --payload-log of the server.
#pragma once
#include <vector>

#include "server/load/client.h"
#include "server/load/load.h"

namespace tern::server::loadgen {

// Reads the file command.recorded. Each line is a JSON object: either a v2 inference request, or an object
// whose member `request` is one. Lines whose member `model` is another model are skipped. Fails if a line is
// something else, and if all lines are skipped.
Result<std::vector<RequestBytes>> ReadRecorded(const Url& url, const LoadCommand& command);

}  // namespace tern::server::loadgen
