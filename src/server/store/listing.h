// Sorts the objects of a repository by model and version. Names in a listing come from outside: nothing in
// them may lead out of the folder of the copy.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "server/store/object_store.h"

namespace tern::server {

// The files of one version of a model, or the files beside the versions. A unit is copied as a whole.
struct RemoteUnit {
  std::vector<ObjectInfo> files;  // sorted by path
  std::string signature;          // changes if any of the files changes
  double age = -1;                // seconds since the last change of a file; -1: unknown
  bool complete = false;          // an index lists all of it
  const ObjectInfo* Find(const std::string& path) const;
};

struct RemoteModel {
  Status status;                            // why the model cannot be copied
  std::map<std::string, RemoteUnit> units;  // by version; "" has the files beside the versions
};

struct RemoteListing {
  std::map<std::string, RemoteModel> models;
  std::vector<std::string> ignored;  // keys outside the folder of a model, or without a valid name of one
};

// Sorts the objects. Skips hidden files, markers of folders and files outside the folders of models.
RemoteListing SortListing(std::vector<ObjectInfo> objects);

// Fails if the key of an object is not a plain relative path: at most 1,024 bytes, at most 16 parts of at
// most 255 bytes, no part that is empty, "." or "..", no control character and no backslash.
Status CheckKey(std::string_view key);

}  // namespace tern::server
