// Imports ONNX models.

#include "convlab/model/onnx/reading/onnx_import.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/model/graph_limits.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/ops/onnx_ops.h"
#include "convlab/model/onnx/reading/onnx_builder.h"
#include "convlab/model/onnx/reading/onnx_outline.h"
#include "convlab/model/onnx/reading/onnx_scope.h"

namespace convlab {
namespace {

constexpr int64_t kFirstOpset = 7, kLastOpset = 26;

using Opsets = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

bool is_onnx_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

/// Returns the opset of a node, which is that of its domain: "opset 17", "com.microsoft opset 1". Some exporters omit
/// the opsets of other domains than ONNX's: "com.microsoft".
std::string opset_text(const std::string& domain, int64_t onnx_opset, const Opsets& opsets) {
  if (is_onnx_domain(domain)) return fmt::format("opset {}", onnx_opset);
  const auto found = std::ranges::find(opsets, domain, &onnx::OperatorSetIdProto::domain);
  if (found == opsets.end()) return printable(domain);
  return fmt::format("{} opset {}", printable(domain), found->version());
}

/// Returns the opset of ONNX's own domain, for a model or a function.
template <class Proto>
int64_t opset_of(const Proto& proto) {
  for (const onnx::OperatorSetIdProto& entry : proto.opset_import()) {
    if (!is_onnx_domain(entry.domain())) continue;  // nodes of other domains are rejected when they are reached
    if (entry.version() < kFirstOpset || entry.version() > kLastOpset) {
      throw bad_input("opset version must be between {} and {}, got {}", kFirstOpset, kLastOpset, entry.version());
    }
    return entry.version();
  }
  throw bad_input("the opset version is missing: opset_import has no entry for the domain ai.onnx");
}

/// The treatment of dynamic first sizes: they stay dynamic, or become the given ones.
enum class FirstSizes { open, given };

/// Visits a model's nodes in order, including those of its functions and of the branches taken.
class OnnxImporter {
 public:
  OnnxImporter(const OnnxOutline& outline, const OnnxBytes& bytes, std::string_view name,
               const OnnxImportOptions& options, FirstSizes first_sizes)
      : outline_(outline),
        model_(outline.model),
        bytes_(bytes),
        options_(options),
        first_sizes_(first_sizes),
        files_(options.folder),
        builder_(printable(name), static_cast<size_t>(bytes.size)) {
    for (const onnx::FunctionProto& function : model_.functions()) {
      functions_.emplace(function.domain() + ":" + function.name() + ":" + function.overload(), &function);
    }
  }

  /// Whether the options give a first size that was left dynamic. If an operator turns out to need it, the import ends
  /// at once.
  bool first_is_given() const { return first_is_given_; }

  Graph interface() {
    const onnx::GraphProto& graph = model_.graph();
    OnnxScope scope(nullptr);
    std::vector<GraphInput> inputs;
    for (const onnx::ValueInfoProto& input : graph.input()) {
      const auto same = [&](const onnx::TensorProto& initializer) { return initializer.name() == input.name(); };
      if (std::ranges::none_of(graph.initializer(), same)) add_input(input, scope, inputs);
    }
    std::vector<GraphOutput> outputs;
    for (const onnx::ValueInfoProto& output : graph.output()) {
      outputs.push_back({.value = builder_.graph().add_value(printable(output.name())),
                         .type = element_type(output.type().tensor_type().elem_type()),
                         .name = printable(output.name())});
    }
    builder_.graph().inputs = std::move(inputs);
    builder_.graph().outputs = std::move(outputs);
    return std::move(builder_.graph());
  }

  Graph import() {
    const onnx::GraphProto& graph = model_.graph();
    if (static_cast<size_t>(graph.node_size()) > kMostNodes) {
      throw bad_input("the model has {} nodes; at most {} are supported", graph.node_size(), kMostNodes);
    }
    OnnxScope scope(nullptr);
    scope.note_producers(graph.node());
    add_initializers(graph, scope, outline_.raw_data);
    std::vector<GraphInput> inputs;
    for (const onnx::ValueInfoProto& input : graph.input()) {
      // Files of the first IR versions list their initializers among the inputs.
      const OnnxValue* initializer = scope.find(input.name());
      if (initializer == nullptr || !initializer->constant) inputs_.push_back(&input);
    }
    for (const onnx::ValueInfoProto* input : inputs_) add_input(*input, scope, inputs);
    if (inputs.empty()) throw bad_input("the model has no inputs");
    builder_.graph().inputs = std::move(inputs);
    add_nodes(graph.node(), {.opset = opset_of(model_), .opsets = model_.opset_import()}, scope);
    refuse();
    set_outputs(scope);
    Graph result = builder_.take();
    for (const auto& entry : model_.metadata_props()) {
      result.metadata[printable(entry.key())] = printable(entry.value());
    }
    return result;
  }

 private:
  /// Where nodes are: in the model's graph, or in a function that is called.
  struct Place {
    int64_t opset = 0;        ///< of ONNX's own domain
    const Opsets& opsets;     ///< of all domains
    std::string prefix = {};  ///< of the names of nodes
    int depth = 0;
    const std::map<std::string, const onnx::AttributeProto*>* attributes = nullptr;  ///< of the function call
  };

  /// `raw_data`: by initializer, the range of raw data that is not in its message; empty: there is none.
  void add_initializers(const onnx::GraphProto& graph, OnnxScope& scope,
                        std::span<const std::optional<OnnxPlace>> raw_data = {}) {
    if (graph.sparse_initializer_size() > 0) throw bad_input("sparse initializers are not supported");
    for (int i = 0; i < graph.initializer_size(); ++i) {
      const onnx::TensorProto& proto = graph.initializer(i);
      try {
        const std::optional<OnnxPlace> place = raw_data.empty() ? std::nullopt : raw_data[static_cast<size_t>(i)];
        Tensor tensor =
            place ? read_raw_tensor(proto, place->bytes, from_file(place->offset)) : read_tensor(proto, files_);
        if (proto.data_location() == onnx::TensorProto::EXTERNAL) builder_.add_bytes(tensor.bytes());
        scope.define(proto.name(), builder_.constant(proto.name(), proto.data_type(), std::move(tensor)));
      } catch (const Error& error) {
        throw bad_input("initializer '{}': {}", printable(proto.name()), error.what());
      }
    }
  }

  FillBytes from_file(int64_t offset) const {
    return [this, offset](std::span<uint8_t> into) { bytes_.read(offset, into); };
  }

  void add_input(const onnx::ValueInfoProto& proto, OnnxScope& scope, std::vector<GraphInput>& inputs) {
    try {
      const onnx::TypeProto& type = proto.type();
      if (!type.has_tensor_type()) throw bad_input("the type must be a tensor");
      const int32_t number = type.tensor_type().elem_type();
      GraphInput input{.type = element_type(number)};
      const Shape* given = given_shape(proto.name());
      if (type.tensor_type().has_shape()) {
        input.shape = shape_of(type.tensor_type().shape());
        for (const auto& size : type.tensor_type().shape().dim()) {
          constexpr size_t kMostLetters = 40;
          input.size_names.push_back(printable(size.dim_param(), kMostLetters));
        }
      } else if (given != nullptr) {
        input.shape = Shape(given->size(), -1);
      } else {
        throw bad_input("the shape is missing");
      }
      if (given != nullptr) close_sizes(input.shape, *given);
      if (std::ranges::count(input.shape, -1) > 0) {
        open_inputs_.push_back({printable(proto.name()), input});
        const bool first_is_open = first_sizes_ == FirstSizes::open && input.shape[0] == -1;
        first_is_given_ = first_is_given_ || (first_is_open && given != nullptr && !given->empty());
      }
      OnnxValue& value = builder_.input(proto.name(), number, input.shape);
      input.value = value.id;
      scope.define(proto.name(), value);
      inputs.push_back(std::move(input));
    } catch (const Error& error) {
      throw bad_input("input '{}': {}", printable(proto.name()), error.what());
    }
  }

  const Shape* given_shape(const std::string& name) const {
    auto given = options_.input_shapes.find(name);
    if (given == options_.input_shapes.end() && inputs_.size() == 1) given = options_.input_shapes.find("");
    return given == options_.input_shapes.end() ? nullptr : &given->second;
  }

  static Shape shape_of(const onnx::TensorShapeProto& proto) {
    const auto dimensions = static_cast<size_t>(proto.dim_size());
    if (dimensions > kMostRank)
      throw bad_input("the shape has {} dimensions; at most {} are supported", dimensions, kMostRank);
    Shape shape;
    for (const auto& dimension : proto.dim()) {
      const bool open = !dimension.has_dim_value() || dimension.dim_value() == -1;
      if (!open && dimension.dim_value() < 1)
        throw bad_input("sizes must be at least 1, got {}", dimension.dim_value());
      shape.push_back(open ? -1 : dimension.dim_value());
    }
    return shape;
  }

  /// Replaces dynamic sizes by the caller's. Whether the other sizes fit is checked when the network runs.
  void close_sizes(Shape& shape, const Shape& given) const {
    for (size_t i = first_sizes_ == FirstSizes::given ? 0 : 1; i < shape.size() && i < given.size(); ++i) {
      if (shape[i] == -1) shape[i] = given[i];
    }
  }

  // ---- Nodes ----

  using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  void add_nodes(const Nodes& nodes, const Place& place, OnnxScope& scope) {
    for (int i = 0; i < nodes.size(); ++i) {
      if (++nodes_ > kMostNodes)
        throw bad_input("the model has more than {} nodes after functions are expanded, the most supported",
                        kMostNodes);
      add_node(nodes.Get(i), place, scope, node_name(nodes.Get(i), i, place));
    }
  }

  /// Returns the name in the file; if there is none, the operator and the index in the list of nodes.
  static std::string node_name(const onnx::NodeProto& proto, int index, const Place& place) {
    return place.prefix + printable(proto.name().empty() ? fmt::format("{}_{}", proto.op_type(), index) : proto.name());
  }

  /// Records a node that is not supported, and skips everything that depends on it.
  void add_node(const onnx::NodeProto& proto, const Place& place, OnnxScope& scope, const std::string& name) {
    try {
      for (const std::string& output : proto.output()) {
        if (!output.empty()) scope.require_new(output);
      }
      std::vector<OnnxValue*> inputs;
      for (const std::string& input : proto.input()) inputs.push_back(input.empty() ? nullptr : scope.value(input));
      const auto refused = [](const OnnxValue* input) { return input != nullptr && input->refused; };
      if (std::ranges::any_of(inputs, refused)) return refuse_outputs(proto, scope);
      if (proto.output_size() == 0 || std::ranges::all_of(proto.output(), &std::string::empty)) {
        throw bad_input("the node has no outputs");
      }
      compute(proto, place, scope, name, std::move(inputs));
    } catch (const Error& error) {
      const bool open = dynamic_cast<const OpenSize*>(&error) != nullptr;
      if (open && first_is_given_) throw;
      refusals_.push_back({fmt::format("node '{}' ({}, {}): ", name, printable(proto.op_type()),
                                       opset_text(proto.domain(), place.opset, place.opsets)),
                           error.what(), open});
      refuse_outputs(proto, scope);
    }
  }

  void refuse_outputs(const onnx::NodeProto& proto, OnnxScope& scope) {
    for (const std::string& output : proto.output()) {
      if (!output.empty() && scope.find(output) == nullptr) scope.define(output, builder_.refused(output));
    }
  }

  void compute(const onnx::NodeProto& proto, const Place& place, OnnxScope& scope, const std::string& name,
               std::vector<OnnxValue*> inputs) {
    const auto function = functions_.find(proto.domain() + ":" + proto.op_type() + ":" + proto.overload());
    if (function != functions_.end()) return call(*function->second, proto, place, scope, name, inputs);
    const bool microsoft = proto.domain() == "com.microsoft";
    if (!is_onnx_domain(proto.domain()) && !microsoft) {
      throw bad_input("operators of the domain '{}' are not supported", printable(proto.domain()));
    }
    const onnx::NodeProto resolved = with_attributes(proto, place);
    if (proto.op_type() == "If") return branch(resolved, place, scope, name, inputs);
    const OnnxReader read = microsoft ? find_microsoft_reader(proto.op_type()) : find_onnx_reader(proto.op_type());
    if (read == nullptr && microsoft) throw bad_input("this operator of the domain 'com.microsoft' is not supported");
    if (read == nullptr) throw bad_input("{}", why_unknown(proto.op_type()));
    const OnnxNode node(resolved, place.opset, {inputs.begin(), inputs.end()}, files_);
    OnnxMeaning meaning = read(node);
    node.check_all_read();
    const std::vector<std::string> names(proto.output().begin(), proto.output().end());
    const std::vector<OnnxValue*> outputs = builder_.add(std::move(meaning), inputs, name, names);
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) continue;
      if (i < outputs.size()) {
        scope.define(names[i], *outputs[i]);
      } else {
        scope.note_missing(names[i], fmt::format("{} '{}'", printable(proto.op_type()), name));
      }
    }
  }

  /// Returns the reason for operators that are deliberately not supported.
  static std::string why_unknown(const std::string& type) {
    static constexpr std::string_view kRecurrent[] = {"LSTM", "GRU", "RNN", "Loop", "Scan"};
    if (std::ranges::find(kRecurrent, type) != std::end(kRecurrent)) {
      return "recurrent networks and loops are not supported";
    }
    if (type.starts_with("Sequence") || type.starts_with("Optional") || type == "SplitToSequence") {
      return "sequences and optional values are not supported";
    }
    if (type == "NonMaxSuppression" || type == "RoiAlign" || type == "MaxRoiPool") {
      return "detection post-processing is not supported; export the network up to its boxes and scores";
    }
    if (type.starts_with("String") || type == "TfIdfVectorizer" || type == "LabelEncoder") {
      return "text operators are not supported";
    }
    return "this operator is not supported";
  }

  /// Returns the node with references to attributes replaced by the attributes of the function call.
  static onnx::NodeProto with_attributes(const onnx::NodeProto& proto, const Place& place) {
    onnx::NodeProto resolved = proto;
    if (place.attributes == nullptr) return resolved;
    resolved.clear_attribute();
    for (const onnx::AttributeProto& attribute : proto.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *resolved.add_attribute() = attribute;
        continue;
      }
      const auto found = place.attributes->find(attribute.ref_attr_name());
      if (found == place.attributes->end()) continue;  // an optional attribute that the call omits
      onnx::AttributeProto& copy = *resolved.add_attribute();
      copy = *found->second;
      copy.set_name(attribute.name());
    }
    return resolved;
  }

  /// Returns the place of nodes in a branch or a called function, which has opsets of its own.
  static Place inside(const Place& place, const std::string& name, int64_t opset, const Opsets& opsets) {
    constexpr int kDeepest = 32;
    if (place.depth >= kDeepest) throw bad_input("functions and branches are nested deeper than {} levels", kDeepest);
    return {.opset = opset,
            .opsets = opsets,
            .prefix = name + "/",
            .depth = place.depth + 1,
            .attributes = place.attributes};
  }

  /// Inlines a model-local function: its nodes replace the call.
  void call(const onnx::FunctionProto& function, const onnx::NodeProto& proto, const Place& place, OnnxScope& scope,
            const std::string& name, const std::vector<OnnxValue*>& inputs) {
    const onnx::NodeProto resolved = with_attributes(proto, place);
    std::map<std::string, const onnx::AttributeProto*> attributes;
    for (const onnx::AttributeProto& attribute : function.attribute_proto()) attributes[attribute.name()] = &attribute;
    for (const onnx::AttributeProto& attribute : resolved.attribute()) attributes[attribute.name()] = &attribute;
    Place inner = inside(place, name, opset_of(function), function.opset_import());
    inner.attributes = &attributes;
    OnnxScope own(nullptr);
    own.note_producers(function.node());
    for (int i = 0; i < function.input_size(); ++i) {
      OnnxValue* input = static_cast<size_t>(i) < inputs.size() ? inputs[static_cast<size_t>(i)] : nullptr;
      own.define(function.input(i), input);
    }
    add_nodes(function.node(), inner, own);
    for (int i = 0; i < proto.output_size() && i < function.output_size(); ++i) {
      if (!proto.output(i).empty()) scope.define(proto.output(i), own.value(function.output(i)));
    }
  }

  /// Inlines an If with a known condition: the nodes of the branch taken.
  void branch(const onnx::NodeProto& proto, const Place& place, OnnxScope& scope, const std::string& name,
              const std::vector<OnnxValue*>& inputs) {
    if (inputs.size() == 1 && inputs[0] != nullptr && inputs[0]->trial) {
      throw open_size("the condition depends on the batch size");
    }
    if (inputs.size() != 1 || inputs[0] == nullptr || !inputs[0]->constant || inputs[0]->constant->count() != 1) {
      throw bad_input("the condition must be one constant value, not computed by the model");
    }
    const bool truth = converted(*inputs[0]->constant, ElementType::i64).values<int64_t>()[0] != 0;
    const std::string_view wanted = truth ? "then_branch" : "else_branch";
    const auto taken = std::ranges::find(proto.attribute(), wanted, &onnx::AttributeProto::name);
    if (taken == proto.attribute().end() || !taken->has_g()) throw bad_input("attribute '{}' is missing", wanted);
    OnnxScope own(&scope);
    own.note_producers(taken->g().node());
    add_initializers(taken->g(), own);
    add_nodes(taken->g().node(), inside(place, name, place.opset, place.opsets), own);
    for (int i = 0; i < proto.output_size() && i < taken->g().output_size(); ++i) {
      if (!proto.output(i).empty()) scope.define(proto.output(i), own.value(taken->g().output(i).name()));
    }
  }

  // ---- Errors and outputs ----

  struct Refusal {
    std::string place, reason;
    bool open;  ///< it is an OpenSize
  };

  /// Throws one error for all unsupported nodes.
  void refuse() const {
    if (refusals_.empty()) return;
    constexpr size_t kMostListed = 50;
    const bool one = refusals_.size() == 1;
    std::string text = one ? "" : fmt::format("{} nodes cannot be imported:", refusals_.size());
    for (size_t i = 0; i < std::min(refusals_.size(), kMostListed); ++i) {
      text += fmt::format("{}{}{}", one ? "" : "\n  ", refusals_[i].place, refusals_[i].reason);
    }
    if (refusals_.size() > kMostListed) text += fmt::format("\n  and {} more", refusals_.size() - kMostListed);
    const bool open = std::ranges::all_of(refusals_, &Refusal::open);
    constexpr size_t kMostFindings = 1000;  // merging them takes time
    std::vector<Finding> findings;
    for (const Refusal& refusal : std::span(refusals_).first(std::min(refusals_.size(), kMostFindings))) {
      findings.push_back({.kind = "unsupported node",
                          .text = refusal.place + refusal.reason,
                          .help = open ? what_to_give() : "docs/guide/networks.md lists what is supported"});
    }
    if (!open) throw FindingError(ErrorKind::bad_input, text, merged(std::move(findings)));
    throw OpenSize(fmt::format("{}{}{}", text, one ? "; " : "\n", what_to_give()), merged(std::move(findings)),
                   open_inputs_);
  }

  /// Returns what to do about missing sizes.
  std::string what_to_give() const {
    std::vector<std::string> inputs;
    for (const auto& [name, input] : open_inputs_) inputs.push_back(fmt::format("'{}' ({})", name, to_text(input)));
    return fmt::format("set the shape of input {}", fmt::join(inputs, " and "));
  }

  void set_outputs(const OnnxScope& scope) {
    if (model_.graph().output_size() == 0) throw bad_input("the model has no outputs");
    std::vector<GraphOutput> outputs;
    for (const onnx::ValueInfoProto& proto : model_.graph().output()) {
      try {
        OnnxValue* const output = scope.value(proto.name());
        outputs.push_back({.value = builder_.use(*output), .type = output->type, .name = printable(proto.name())});
      } catch (const OpenSize& error) {
        const std::string text = fmt::format("output '{}': {}", printable(proto.name()), error.what());
        throw OpenSize(fmt::format("{}; {}", text, what_to_give()), {{.text = text, .help = what_to_give()}},
                       open_inputs_);
      } catch (const Error& error) {
        throw bad_input("output '{}': {}", printable(proto.name()), error.what());
      }
    }
    builder_.graph().outputs = std::move(outputs);
  }

  const OnnxOutline& outline_;
  const onnx::ModelProto& model_;
  const OnnxBytes& bytes_;
  const OnnxImportOptions& options_;
  const FirstSizes first_sizes_;
  ExternalFiles files_;
  OnnxBuilder builder_;
  std::map<std::string, const onnx::FunctionProto*> functions_;
  std::vector<const onnx::ValueInfoProto*> inputs_;
  std::vector<DeclaredInput> open_inputs_;
  bool first_is_given_ = false;
  std::vector<Refusal> refusals_;
  size_t nodes_ = 0;
};

OnnxBytes bytes_of(const InputFile& file) {
  return {file.size(), [&file](int64_t offset, std::span<uint8_t> into) { file.read(offset, into); }};
}

Graph import_onnx(const OnnxBytes& bytes, std::string_view name, const OnnxImportOptions& options) {
  try {
    const OnnxOutline outline = read_outline(bytes);
    {
      OnnxImporter importer(outline, bytes, name, options, FirstSizes::open);
      try {
        return importer.import();
      } catch (const OpenSize&) {
        if (!importer.first_is_given()) throw;
      }
    }
    return OnnxImporter(outline, bytes, name, options, FirstSizes::given).import();
  } catch (const OpenSize& error) {
    const FindingError named = in_file(name, error);
    throw OpenSize(named.what(), named.findings(), error.inputs());
  } catch (const Error& error) {
    throw in_file(name, error);
  }
}

}  // namespace

Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name, const OnnxImportOptions& options) {
  const auto read = [bytes](int64_t offset, std::span<uint8_t> into) {
    std::ranges::copy(bytes.subspan(static_cast<size_t>(offset), into.size()), into.begin());
  };
  return import_onnx(OnnxBytes{std::ssize(bytes), read}, name, options);
}

Graph import_onnx(const InputFile& file, std::string_view name, const OnnxImportOptions& options) {
  return import_onnx(bytes_of(file), name, options);
}

Graph onnx_interface(const InputFile& file, std::string_view name) {
  const OnnxBytes bytes = bytes_of(file);
  const OnnxOutline outline = read_outline(bytes);
  return OnnxImporter(outline, bytes, name, {}, FirstSizes::open).interface();
}

}  // namespace convlab
