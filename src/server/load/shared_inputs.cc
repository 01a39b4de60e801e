// Inputs of a load test in system shared memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "data/json_writer.h"
#include "server/load/payload.h"
#include "server/load/proto_text.h"

namespace tern::server::loadgen {
namespace {

constexpr double kTimeout = 10;

Status Check(const Result<Answer>& answer, const char* what) {
  if (!answer.ok()) return answer.status();
  if (!answer->ok) return IoError("cannot ", what, " shared memory: ", answer->message);
  return {};
}

std::string RegionPath(const Url& url, const std::string& region, const char* action) {
  return StrCat(url.path == "/" ? "" : url.path, "/v2/systemsharedmemory/region/", region, "/", action);
}

}  // namespace

Result<std::unique_ptr<SharedInputs>> SharedInputs::Create(const Url& url, const LoadCommand& command,
                                                           const std::vector<InputTensor>& inputs) {
  std::unique_ptr<SharedInputs> shared(new SharedInputs(url, command.grpc));
  shared->region_ = StrCat("tern_load_", getpid());
  shared->key_ = StrCat("/tern_load_", getpid());
  TERN_TRY(shared->Fill(inputs));
  TERN_TRY(shared->Register());
  return shared;
}

Status SharedInputs::Fill(const std::vector<InputTensor>& inputs) {
  for (const InputTensor& input : inputs) {
    offsets_.push_back(bytes_);
    bytes_ += (input.bytes.size() + 63) / 64 * 64;
  }
  bytes_ = bytes_ ? bytes_ : 64;
  const int fd = shm_open(key_.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (fd < 0) return IoError("cannot make shared memory: ", std::strerror(errno));
  void* memory = MAP_FAILED;
  if (ftruncate(fd, static_cast<off_t>(bytes_)) == 0)
    memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  close(fd);
  if (memory == MAP_FAILED) return IoError("cannot map shared memory: ", std::strerror(error));
  for (size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(static_cast<char*>(memory) + offsets_[i], inputs[i].bytes.data(), inputs[i].bytes.size());
  munmap(memory, bytes_);
  return {};
}

Status SharedInputs::Register() {
  if (grpc_) {
    std::string message;
    AppendField(1, region_, message);
    AppendField(2, key_, message);
    AppendNumber(4, bytes_, message);
    TERN_TRY(Check(CallOnce(url_, true, GrpcRequest("SystemSharedMemoryRegister", message), kTimeout),
                   "register"));
  } else {
    data::JsonWriter json;
    json.BeginObject()
        .Key("key")
        .Text(key_)
        .Key("offset")
        .Int(0)
        .Key("byte_size")
        .Unsigned(bytes_)
        .EndObject();
    const auto request = HttpRequest(url_, "POST", RegionPath(url_, region_, "register"), "", json.text());
    TERN_TRY(Check(CallOnce(url_, false, request, kTimeout), "register"));
  }
  registered_ = true;
  return {};
}

SharedInputs::~SharedInputs() {
  if (registered_) {
    std::string message;
    AppendField(1, region_, message);
    const auto request = grpc_ ? GrpcRequest("SystemSharedMemoryUnregister", message)
                               : HttpRequest(url_, "POST", RegionPath(url_, region_, "unregister"), "", "");
    (void)CallOnce(url_, grpc_, request, kTimeout);
  }
  shm_unlink(key_.c_str());
}

}  // namespace tern::server::loadgen
