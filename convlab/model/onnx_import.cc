#include "convlab/model/onnx_import.h"

#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/constant_folding.h"
#include "convlab/model/limits.h"
#include "convlab/model/onnx.pb.h"
#include "convlab/model/onnx_node.h"
#include "convlab/model/onnx_ops.h"
#include "convlab/model/onnx_tensor.h"

namespace convlab {
namespace {

constexpr int64_t kFirstOpset = 7, kLastOpset = 21;

/// Bytes of constants that nodes may make from other constants, for each byte of the file: enough to cast and rearrange
/// all weights a few times, but a small file cannot fill the memory.
constexpr size_t kConstantBytesPerByte = 16, kConstantBytesAlways = 1 << 20;

bool is_onnx_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

onnx::ModelProto parse(std::span<const uint8_t> bytes) {
  constexpr size_t kMostBytes = INT32_MAX;  // protobuf's own limit
  if (bytes.size() > kMostBytes)
    throw bad_input("the file has {} bytes; ONNX files have less than 2 GiB", bytes.size());
  google::protobuf::io::CodedInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  onnx::ModelProto model;
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    throw bad_input("not an ONNX model: its {} bytes are cut off or damaged, read up to byte {}", bytes.size(),
                    stream.CurrentPosition());
  }
  if (!model.has_graph()) throw bad_input("not an ONNX model: it holds no graph");
  return model;
}

int64_t opset_of(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& entry : model.opset_import()) {
    if (!is_onnx_domain(entry.domain())) continue;  // nodes of other domains are refused when we reach them
    if (entry.version() < kFirstOpset || entry.version() > kLastOpset) {
      throw bad_input("its opset is {}; {} to {} are supported", entry.version(), kFirstOpset, kLastOpset);
    }
    return entry.version();
  }
  throw bad_input("it does not say which opset it uses");
}

/// The rank of an operator's output, where it follows from its operands' ranks.
std::optional<int64_t> output_rank(const Op& op, const std::vector<OnnxValue*>& operands) {
  if (std::holds_alternative<GemmOp>(op) || std::holds_alternative<FlattenOp>(op)) return 2;
  if (const auto* reshape = std::get_if<ReshapeOp>(&op)) return std::ssize(reshape->shape);
  for (const OnnxValue* operand : operands) {
    if (!operand->rank) return std::nullopt;
  }
  const int64_t rank = *operands[0]->rank;
  if (const auto* squeeze = std::get_if<SqueezeOp>(&op)) {
    if (squeeze->axes.empty()) return std::nullopt;
    return rank - std::ssize(squeeze->axes);
  }
  if (const auto* unsqueeze = std::get_if<UnsqueezeOp>(&op)) return rank + std::ssize(unsqueeze->axes);
  if (std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op)) return std::max(rank, *operands[1]->rank);
  if (std::holds_alternative<MatMulOp>(op)) {
    const int64_t other = *operands[1]->rank;
    return std::max<int64_t>(std::max(rank, other) - (rank == 1 ? 1 : 0) - (other == 1 ? 1 : 0), 0);
  }
  return rank;
}

class OnnxImporter {
 public:
  OnnxImporter(const onnx::ModelProto& model, size_t file_bytes, std::string_view name)
      : model_(model), opset_(opset_of(model)) {
    graph_.name = printable(name);
    constant_bytes_left_ = file_bytes * kConstantBytesPerByte + kConstantBytesAlways;
  }

  Graph import() {
    const onnx::GraphProto& graph = model_.graph();
    if (static_cast<size_t>(graph.node_size()) > kMostNodes) {
      throw bad_input("it has {} nodes; {} are supported", graph.node_size(), kMostNodes);
    }
    if (graph.sparse_initializer_size() > 0) throw bad_input("sparse initializers are not supported");
    note_producers();
    for (const onnx::TensorProto& initializer : graph.initializer()) add_initializer(initializer);
    for (const onnx::ValueInfoProto& input : graph.input()) add_input(input);
    if (graph_.input < 0) throw bad_input("it has no input");
    for (int i = 0; i < graph.node_size(); ++i) add_node(i);
    set_output();
    move_constants();
    drop_unused(graph_);
    for (const auto& entry : model_.metadata_props())
      graph_.metadata[printable(entry.key())] = printable(entry.value());
    return std::move(graph_);
  }

 private:
  OnnxValue& define(const std::string& name, OnnxValue value) {
    if (name.empty()) throw bad_input("it has no name");
    OnnxValue& stored = values_.emplace_back(std::move(value));
    stored.name = name;
    if (!by_name_.emplace(name, &stored).second) throw bad_input("the name is defined twice");
    return stored;
  }

  /// Which node makes which value, to tell names that come too late from names that no node makes.
  void note_producers() {
    for (int i = 0; i < model_.graph().node_size(); ++i) {
      for (const std::string& output : model_.graph().node(i).output()) producers_.emplace(output, i);
    }
  }

  void add_initializer(const onnx::TensorProto& proto) {
    try {
      Tensor tensor = read_tensor(proto);
      define(proto.name(), {.type = tensor.type(), .rank = std::ssize(tensor.shape()), .constant = std::move(tensor)});
    } catch (const Error& error) {
      throw bad_input("initializer '{}': {}", printable(proto.name()), error.what());
    }
  }

  void add_input(const onnx::ValueInfoProto& proto) {
    // Files of the first IR versions list their initializers among the inputs.
    const auto initializer = by_name_.find(proto.name());
    if (initializer != by_name_.end() && initializer->second->constant) return;
    try {
      const onnx::TypeProto& type = proto.type();
      if (!type.has_tensor_type()) throw bad_input("it is no tensor");
      const int32_t element = type.tensor_type().elem_type();
      if (element != onnx::TensorProto::FLOAT && element != onnx::TensorProto::FLOAT16 &&
          element != onnx::TensorProto::UINT8) {
        throw bad_input("its element type is {}; float32, float16 and uint8 are supported", onnx_type_name(element));
      }
      if (graph_.input >= 0) {
        throw bad_input("the model has a second input, after '{}'; models of one input are supported",
                        graph_.value_names[static_cast<size_t>(graph_.input)]);
      }
      if (!type.tensor_type().has_shape()) throw bad_input("it has no shape");
      const auto dimensions = static_cast<size_t>(type.tensor_type().shape().dim_size());
      if (dimensions > kMostRank) throw bad_input("it has {} dimensions; {} are supported", dimensions, kMostRank);
      for (const auto& dimension : type.tensor_type().shape().dim()) {
        const bool open = !dimension.has_dim_value() || dimension.dim_value() == -1;
        if (!open && dimension.dim_value() < 1) throw bad_input("a size is {}", dimension.dim_value());
        graph_.input_shape.push_back(open ? -1 : dimension.dim_value());
      }
      OnnxValue& value = define(proto.name(), {.type = element_type(element), .rank = std::ssize(graph_.input_shape)});
      graph_.input = value.id = graph_.add_value(printable(proto.name()));
    } catch (const Error& error) {
      throw bad_input("input '{}': {}", printable(proto.name()), error.what());
    }
  }

  /// As in the file; if it has none, the operator and the place in the list of nodes.
  std::string node_name(int index) const {
    const onnx::NodeProto& proto = model_.graph().node(index);
    return printable(proto.name().empty() ? fmt::format("{}_{}", proto.op_type(), index) : proto.name());
  }

  void add_node(int index) {
    const onnx::NodeProto& proto = model_.graph().node(index);
    const std::string type = printable(proto.op_type()), name = node_name(index);
    try {
      if (!is_onnx_domain(proto.domain())) {
        throw bad_input("operators of the domain '{}' are not supported", printable(proto.domain()));
      }
      const OnnxReader read = find_onnx_reader(proto.op_type());
      if (read == nullptr) {
        throw bad_input("this operator is not supported; supported are {}", fmt::join(onnx_operators(), ", "));
      }
      if (proto.output_size() == 0 || proto.output(0).empty()) throw bad_input("it has no output");
      const OnnxNode node(proto, opset_, inputs_of(proto));
      OnnxMeaning meaning = read(node);
      node.check_all_read();
      check_new(proto.output(0));
      if (auto* constant = std::get_if<Tensor>(&meaning)) add_constant(proto.output(0), std::move(*constant));
      if (const auto* passed = std::get_if<OnnxPassed>(&meaning)) pass_on(proto, *passed);
      if (auto* computed = std::get_if<OnnxComputed>(&meaning)) add_operator(proto, name, *computed);
      for (int i = 1; i < proto.output_size(); ++i) {
        if (!proto.output(i).empty()) more_outputs_.emplace(proto.output(i), fmt::format("{} '{}'", type, name));
      }
    } catch (const Error& error) {
      throw bad_input("node '{}' ({}, opset {}): {}", name, type, opset_, error.what());
    }
  }

  std::vector<const OnnxValue*> inputs_of(const onnx::NodeProto& proto) const {
    std::vector<const OnnxValue*> inputs;
    for (const std::string& name : proto.input()) inputs.push_back(name.empty() ? nullptr : &value(name));
    return inputs;
  }

  OnnxValue& value(const std::string& name) const {
    const auto found = by_name_.find(name);
    if (found != by_name_.end()) return *found->second;
    if (const auto more = more_outputs_.find(name); more != more_outputs_.end()) {
      throw bad_input("it uses '{}', a further output of {}; only first outputs are supported", printable(name),
                      more->second);
    }
    if (const auto later = producers_.find(name); later != producers_.end()) {
      throw bad_input("it uses '{}', which node '{}' computes later: the nodes are not in order, or form a cycle",
                      printable(name), node_name(later->second));
    }
    throw bad_input("it uses '{}', which nothing defines", printable(name));
  }

  /// Counts a constant to be made from others: an error where all of these together become too large.
  void count_constant(ElementType type, const Shape& shape) {
    const int64_t bytes = checked_mul(element_count(shape), static_cast<int64_t>(size_of(type)));
    if (static_cast<size_t>(bytes) > constant_bytes_left_) {
      throw bad_input("the constants that are computed from constants take far more memory than the file");
    }
    constant_bytes_left_ -= static_cast<size_t>(bytes);
  }

  void add_constant(const std::string& name, Tensor constant) {
    define(name, {.type = constant.type(), .rank = std::ssize(constant.shape()), .constant = std::move(constant)});
  }

  void pass_on(const onnx::NodeProto& proto, const OnnxPassed& passed) {
    OnnxValue& input = value(proto.input(0));
    if (passed.type == input.type) {
      by_name_.emplace(proto.output(0), &input);  // a second name, not a second value
    } else if (input.constant) {
      count_constant(passed.type, input.constant->shape());
      add_constant(proto.output(0), converted(*input.constant, passed.type));
    } else {
      define(proto.output(0), {.type = passed.type, .rank = input.rank, .id = input.id});
    }
  }

  void add_operator(const onnx::NodeProto& proto, const std::string& name, OnnxComputed& computed) {
    std::vector<OnnxValue*> operands;
    Constants constants;
    for (size_t i = 0; i < computed.operands; ++i) {
      operands.push_back(&value(proto.input(static_cast<int>(i))));
      if (operands[i]->constant) constants.push_back(*operands[i]->constant);
    }
    if (constants.size() == operands.size()) {
      if (const std::optional<Shape> shape = rearranged_shape(computed.op, constants)) {
        count_constant(operands[0]->type, *shape);
        return add_constant(proto.output(0), rearranged(computed.op, constants, *shape));
      }
    }
    check_types(computed.op, operands);
    Node node{.name = name};
    for (OnnxValue* operand : operands) node.inputs.push_back(use(*operand));
    const bool rounds = std::holds_alternative<RoundOp>(computed.op);
    OnnxValue& output = define(proto.output(0), {.type = rounds ? ElementType::f16 : operands[0]->type,
                                                 .rank = output_rank(computed.op, operands)});
    node.op = std::move(computed.op);
    node.output = output.id = graph_.add_value(printable(output.name));
    graph_.nodes.push_back(std::move(node));
  }

  /// The value as an operand: a constant becomes one of the graph's constants.
  ValueId use(OnnxValue& value) {
    if (value.id < 0) value.id = graph_.add_value(printable(value.name));
    return value.id;
  }

  void check_new(const std::string& name) const {
    if (by_name_.contains(name) || more_outputs_.contains(name)) {
      throw bad_input("its output '{}' is defined already", printable(name));
    }
  }

  /// ONNX converts nothing by itself. (Normalization's parameters have types of their own since opset 15.)
  static void check_types(const Op& op, const std::vector<OnnxValue*>& operands) {
    for (const OnnxValue* operand : operands) {
      if (operand->type != ElementType::f32 && operand->type != ElementType::f16) {
        throw bad_input("its input '{}' is {}; float32 and float16 are supported", printable(operand->name),
                        name_of(operand->type));
      }
      if (operand->type != operands[0]->type && !std::holds_alternative<BatchNormOp>(op)) {
        throw bad_input("its inputs '{}' and '{}' are {} and {}; they must be of one type",
                        printable(operands[0]->name), printable(operand->name), name_of(operands[0]->type),
                        name_of(operand->type));
      }
    }
  }

  void set_output() {
    const onnx::GraphProto& graph = model_.graph();
    if (graph.output_size() != 1) {
      throw bad_input("it has {} outputs; models of one output are supported", graph.output_size());
    }
    const std::string& name = graph.output(0).name();
    try {
      const OnnxValue& output = value(name);
      if (output.constant) throw bad_input("it is a constant");
      graph_.output = output.id;
    } catch (const Error& error) {
      throw bad_input("output '{}': {}", printable(name), error.what());
    }
  }

  void move_constants() {
    for (OnnxValue& value : values_) {
      if (!value.constant || value.id < 0) continue;
      const bool as_it_is = value.constant->type() == ElementType::f32;
      graph_.constants.emplace(value.id,
                               as_it_is ? std::move(*value.constant) : converted(*value.constant, ElementType::f32));
    }
  }

  const onnx::ModelProto& model_;
  int64_t opset_;
  Graph graph_;
  std::deque<OnnxValue> values_;  // a deque, so that addresses stay
  std::unordered_map<std::string, OnnxValue*> by_name_;
  std::unordered_map<std::string, int> producers_;  // node index by output
  std::unordered_map<std::string, std::string> more_outputs_;
  size_t constant_bytes_left_ = 0;
};

}  // namespace

Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name) {
  try {
    const onnx::ModelProto model = parse(bytes);
    return OnnxImporter(model, bytes.size(), name).import();
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace convlab
