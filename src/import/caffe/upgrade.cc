// Brings networks of older versions of Caffe to the current form.
#include <algorithm>
#include <map>

#include "import/caffe/network.h"

namespace tern::caffe {
namespace {

// Returns the name in the current format of a layer type of the second format, or "" if no type has this
// number.
std::string TypeOfV1(pb::V1LayerParameter::LayerType type) {
  static const auto* const kNames = new std::map<int, const char*>{
      {pb::V1LayerParameter::ABSVAL, "AbsVal"},
      {pb::V1LayerParameter::ACCURACY, "Accuracy"},
      {pb::V1LayerParameter::ARGMAX, "ArgMax"},
      {pb::V1LayerParameter::BNLL, "BNLL"},
      {pb::V1LayerParameter::CONCAT, "Concat"},
      {pb::V1LayerParameter::CONTRASTIVE_LOSS, "ContrastiveLoss"},
      {pb::V1LayerParameter::CONVOLUTION, "Convolution"},
      {pb::V1LayerParameter::DATA, "Data"},
      {pb::V1LayerParameter::DECONVOLUTION, "Deconvolution"},
      {pb::V1LayerParameter::DROPOUT, "Dropout"},
      {pb::V1LayerParameter::DUMMY_DATA, "DummyData"},
      {pb::V1LayerParameter::EUCLIDEAN_LOSS, "EuclideanLoss"},
      {pb::V1LayerParameter::ELTWISE, "Eltwise"},
      {pb::V1LayerParameter::EXP, "Exp"},
      {pb::V1LayerParameter::FLATTEN, "Flatten"},
      {pb::V1LayerParameter::HDF5_DATA, "HDF5Data"},
      {pb::V1LayerParameter::HDF5_OUTPUT, "HDF5Output"},
      {pb::V1LayerParameter::HINGE_LOSS, "HingeLoss"},
      {pb::V1LayerParameter::IM2COL, "Im2col"},
      {pb::V1LayerParameter::IMAGE_DATA, "ImageData"},
      {pb::V1LayerParameter::INFOGAIN_LOSS, "InfogainLoss"},
      {pb::V1LayerParameter::INNER_PRODUCT, "InnerProduct"},
      {pb::V1LayerParameter::LRN, "LRN"},
      {pb::V1LayerParameter::MEMORY_DATA, "MemoryData"},
      {pb::V1LayerParameter::MULTINOMIAL_LOGISTIC_LOSS, "MultinomialLogisticLoss"},
      {pb::V1LayerParameter::MVN, "MVN"},
      {pb::V1LayerParameter::POOLING, "Pooling"},
      {pb::V1LayerParameter::POWER, "Power"},
      {pb::V1LayerParameter::RELU, "ReLU"},
      {pb::V1LayerParameter::SIGMOID, "Sigmoid"},
      {pb::V1LayerParameter::SIGMOID_CROSS_ENTROPY_LOSS, "SigmoidCrossEntropyLoss"},
      {pb::V1LayerParameter::SILENCE, "Silence"},
      {pb::V1LayerParameter::SOFTMAX, "Softmax"},
      {pb::V1LayerParameter::SOFTMAX_LOSS, "SoftmaxWithLoss"},
      {pb::V1LayerParameter::SPLIT, "Split"},
      {pb::V1LayerParameter::SLICE, "Slice"},
      {pb::V1LayerParameter::TANH, "TanH"},
      {pb::V1LayerParameter::WINDOW_DATA, "WindowData"},
      {pb::V1LayerParameter::THRESHOLD, "Threshold"}};
  auto it = kNames->find(type);
  return it == kNames->end() ? "" : it->second;
}

// Returns the name in the current format of a layer type of the first format. Returns an unknown type
// unchanged.
std::string TypeOfV0(const std::string& type) {
  static const auto* const kNames =
      new std::map<std::string, const char*>{{"accuracy", "Accuracy"},
                                             {"bnll", "BNLL"},
                                             {"concat", "Concat"},
                                             {"conv", "Convolution"},
                                             {"data", "Data"},
                                             {"dropout", "Dropout"},
                                             {"euclidean_loss", "EuclideanLoss"},
                                             {"flatten", "Flatten"},
                                             {"hdf5_data", "HDF5Data"},
                                             {"hdf5_output", "HDF5Output"},
                                             {"im2col", "Im2col"},
                                             {"images", "ImageData"},
                                             {"infogain_loss", "InfogainLoss"},
                                             {"innerproduct", "InnerProduct"},
                                             {"lrn", "LRN"},
                                             {"multinomial_logistic_loss", "MultinomialLogisticLoss"},
                                             {"pool", "Pooling"},
                                             {"relu", "ReLU"},
                                             {"sigmoid", "Sigmoid"},
                                             {"softmax", "Softmax"},
                                             {"softmax_loss", "SoftmaxWithLoss"},
                                             {"split", "Split"},
                                             {"tanh", "TanH"},
                                             {"window_data", "WindowData"}};
  auto it = kNames->find(type);
  return it == kNames->end() ? type : it->second;
}

void UpgradeConv(const pb::V0LayerParameter& old, pb::ConvolutionParameter& conv) {
  if (old.has_num_output()) conv.set_num_output(old.num_output());
  if (old.has_biasterm()) conv.set_bias_term(old.biasterm());
  if (old.has_pad()) conv.add_pad(old.pad());
  if (old.has_kernelsize()) conv.add_kernel_size(old.kernelsize());
  if (old.has_group()) conv.set_group(old.group());
  if (old.has_stride()) conv.add_stride(old.stride());
}

void UpgradePool(const pb::V0LayerParameter& old, pb::PoolingParameter& pool) {
  if (old.has_pad()) pool.set_pad(old.pad());
  if (old.has_kernelsize()) pool.set_kernel_size(old.kernelsize());
  if (old.has_stride()) pool.set_stride(old.stride());
  if (old.has_pool()) pool.set_pool(old.pool());
}

void UpgradeV0(const pb::V0LayerParameter& old, pb::LayerParameter& layer) {
  layer.set_name(old.name());
  layer.set_type(TypeOfV0(old.type()));
  const std::string& type = layer.type();
  if (type == "Convolution" || type == "Im2col") UpgradeConv(old, *layer.mutable_convolution_param());
  if (type == "Pooling") UpgradePool(old, *layer.mutable_pooling_param());
  if (type == "InnerProduct") {
    if (old.has_num_output()) layer.mutable_inner_product_param()->set_num_output(old.num_output());
    if (old.has_biasterm()) layer.mutable_inner_product_param()->set_bias_term(old.biasterm());
  }
  if (type == "Dropout" && old.has_dropout_ratio())
    layer.mutable_dropout_param()->set_dropout_ratio(old.dropout_ratio());
  if (type == "LRN") {
    if (old.has_local_size()) layer.mutable_lrn_param()->set_local_size(old.local_size());
    if (old.has_alpha()) layer.mutable_lrn_param()->set_alpha(old.alpha());
    if (old.has_beta()) layer.mutable_lrn_param()->set_beta(old.beta());
    if (old.has_k()) layer.mutable_lrn_param()->set_k(old.k());
  }
  if (type == "Concat" && old.has_concat_dim())
    layer.mutable_concat_param()->set_concat_dim(old.concat_dim());
}

// Copies the messages that have the same name and type in both formats.
void CopyParameters(const pb::V1LayerParameter& old, pb::LayerParameter& layer) {
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  old.GetReflection()->ListFields(old, &fields);
  for (const auto* from : fields) {
    const auto* to = layer.GetDescriptor()->FindFieldByName(from->name());
    if (!to || from->is_repeated() || to->is_repeated() || !from->message_type() ||
        from->message_type() != to->message_type())
      continue;
    layer.GetReflection()->MutableMessage(&layer, to)->CopyFrom(old.GetReflection()->GetMessage(old, from));
  }
}

void UpgradeV1(const pb::V1LayerParameter& old, pb::LayerParameter& layer) {
  *layer.mutable_bottom() = old.bottom();
  *layer.mutable_top() = old.top();
  *layer.mutable_include() = old.include();
  *layer.mutable_exclude() = old.exclude();
  if (old.has_layer()) return UpgradeV0(old.layer(), layer);
  layer.set_name(old.name());
  layer.set_type(TypeOfV1(old.type()));
  for (const std::string& name : old.param()) layer.add_param()->set_name(name);
  CopyParameters(old, layer);
}

// In the first format, a layer of type "padding" may contain the padding of a convolution or pooling that
// reads its top. Moves the padding to this layer.
Status UpgradePadding(pb::NetParameter& net) {
  std::map<std::string, const pb::V1LayerParameter*> padding;
  google::protobuf::RepeatedPtrField<pb::V1LayerParameter> kept;
  const auto layers = net.layers();
  for (const auto& layer : layers) {
    if (layer.layer().type() == "padding") {
      if (layer.bottom_size() != 1 || layer.top_size() != 1)
        return InvalidModel("layer '", layer.layer().name(), "' (padding) must have one bottom and one top");
      padding[layer.top(0)] = &layer;
      continue;
    }
    pb::V1LayerParameter& copy = *kept.Add();
    copy = layer;
    for (std::string& bottom : *copy.mutable_bottom()) {
      auto it = padding.find(bottom);
      if (it == padding.end()) continue;
      const std::string& type = layer.layer().type();
      if ((type != "conv" && type != "pool") || layer.bottom_size() != 1)
        return InvalidModel("layer '", layer.layer().name(), "' (", type,
                            ") reads a padding layer, which only conv and pool layers with one bottom can");
      copy.mutable_layer()->set_pad(it->second->layer().pad());
      bottom = it->second->bottom(0);
    }
  }
  *net.mutable_layers() = std::move(kept);
  return {};
}

// Replaces the fields input, input_shape and input_dim by an Input layer at the front.
Status UpgradeInputs(pb::NetParameter& net) {
  if (net.input_size() == 0) return {};
  const bool shaped = net.input_shape_size() > 0;
  if (shaped && net.input_shape_size() != net.input_size())
    return InvalidModel("the network has ", net.input_size(), " inputs, but ", net.input_shape_size(),
                        " input_shape");
  if (!shaped && net.input_dim_size() > 0 && net.input_dim_size() != 4 * net.input_size())
    return InvalidModel("the network has ", net.input_size(), " inputs, so input_dim must have ",
                        4 * net.input_size(), " numbers, got ", net.input_dim_size());
  if (!shaped && net.input_dim_size() == 0) {
    net.clear_input();
    return {};
  }
  pb::LayerParameter layer;
  layer.set_name("input");
  layer.set_type("Input");
  for (int i = 0; i < net.input_size(); ++i) {
    layer.add_top(net.input(i));
    pb::BlobShape& shape = *layer.mutable_input_param()->add_shape();
    if (shaped) shape = net.input_shape(i);
    for (int j = 0; !shaped && j < 4; ++j) shape.add_dim(net.input_dim(4 * i + j));
  }
  google::protobuf::RepeatedPtrField<pb::LayerParameter> layers;
  *layers.Add() = std::move(layer);
  for (pb::LayerParameter& next : *net.mutable_layer()) *layers.Add() = std::move(next);
  *net.mutable_layer() = std::move(layers);
  net.clear_input();
  return {};
}

bool Meets(const pb::NetStateRule& rule, const pb::NetState& state) {
  if (rule.has_phase() && rule.phase() != pb::TEST) return false;
  if (rule.has_min_level() && state.level() < rule.min_level()) return false;
  if (rule.has_max_level() && state.level() > rule.max_level()) return false;
  const auto has = [&](const std::string& stage) {
    return std::find(state.stage().begin(), state.stage().end(), stage) != state.stage().end();
  };
  for (const std::string& stage : rule.stage())
    if (!has(stage)) return false;
  for (const std::string& stage : rule.not_stage())
    if (has(stage)) return false;
  return true;
}

bool Included(const pb::LayerParameter& layer, const pb::NetState& state) {
  const auto meets = [&](const pb::NetStateRule& rule) { return Meets(rule, state); };
  if (layer.include_size() > 0) return std::any_of(layer.include().begin(), layer.include().end(), meets);
  return std::none_of(layer.exclude().begin(), layer.exclude().end(), meets);
}

Status UpgradeLayers(pb::NetParameter& net) {
  if (net.layers_size() == 0) return {};
  if (net.layer_size() > 0)
    return InvalidModel("the network has fields 'layer' and 'layers'; Caffe reads one or the other");
  TERN_TRY(UpgradePadding(net));
  for (const auto& old : net.layers()) UpgradeV1(old, *net.add_layer());
  net.clear_layers();
  return {};
}

}  // namespace

Status Upgrade(pb::NetParameter& net) {
  TERN_TRY(UpgradeLayers(net));
  TERN_TRY(UpgradeInputs(net));
  google::protobuf::RepeatedPtrField<pb::LayerParameter> kept;
  for (pb::LayerParameter& layer : *net.mutable_layer())
    if (Included(layer, net.state())) *kept.Add() = std::move(layer);
  *net.mutable_layer() = std::move(kept);
  return {};
}

}  // namespace tern::caffe
