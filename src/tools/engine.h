// Loads and runs models, for the commands.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "core/datum.h"
#include "ir/graph.h"
#include "load/format.h"
#include "runtime/exec/session.h"
#include "tools/engine_flags.h"
#include "tools/shapes.h"

namespace tern::tools {

// The flags --weights and --signature, for formats that use them.
class ModelFlags {
 public:
  void Declare(Args& args);
  // Only --signature, for commands whose --weights means something else.
  void DeclareSignature(Args& args);
  // `threads` is the number of threads that copy weights. If it is 0, there is one per core.
  load::LoadOptions Options(int64_t threads = 0) const;

 private:
  std::string weights_, signature_;
};

// Loads a model of any format in load::Formats(). Prints the importer's warnings to stderr.
Result<std::unique_ptr<Graph>> LoadModel(const std::string& path, const load::LoadOptions& options = {});
// Like the function above, but also passes the types of --shape to the importer, for formats that do not
// declare the inputs' types. The caller must still apply `shapes` to the graph.
Result<std::unique_ptr<Graph>> LoadModel(const std::string& path, load::LoadOptions options,
                                         const ShapeOptions& shapes);

class Engine {
 public:
  static Result<Engine> Make(std::unique_ptr<Graph> graph, const SessionOptions& options);

  const Graph& graph() const { return session_->graph(); }
  // Runs the model with one datum per graph input. Returns one datum per output.
  Result<DatumList> Run(const DatumList& inputs) { return session_->Run(inputs); }
  // Bind and RunBound are for measurements. Bind sets the inputs of all following runs. RunBound does not
  // copy the results.
  Status Bind(const DatumList& inputs);
  Status RunBound() { return session_->Run(); }
  void SetObserver(RunObserver* observer) { session_->SetObserver(observer); }
  // Compiles a plan for the bound inputs, without running it.
  Status Prepare() { return session_->Prepare(); }
  MemoryReport Memory() const { return session_->Memory(); }
  Packs PackedWeights() const { return session_->PackedWeights(); }
  // Returns the name of the kernel of each node of the model's top-level graph. "reference" means that the
  // reference evaluator runs the node. "view" and "folded" mean that the node needs no kernel. "inlined"
  // means that the nodes of its subgraph run instead of the node. "in NAME" means that the kernel NAME of
  // another node also computes this node. The result is empty before the first plan.
  std::map<const Node*, std::string> Kernels() const;
  std::vector<StepInfo> Steps() const { return session_->Steps(); }  // steps of the last plan
  std::vector<Choice> Choices() const { return session_->Choices(); }
  TuneReport Tuning() const { return session_->Tuning(); }
  // Returns the precisions of the matrix products and convolutions that run, such as "int8", "int8+fp32",
  // "int4 weights" or "bf16". `options` are those of Make.
  std::string Precision(const SessionOptions& options) const;
  void Warn() const;  // prints Session::Warnings() to stderr

 private:
  explicit Engine(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  std::unique_ptr<Session> session_;
};

}  // namespace tern::tools
