// Writes and parses plan files.

#include "convlab/plan/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "convlab/base/error.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/text.h"
#include "convlab/kernels/former_names.h"

namespace convlab {
namespace {

constexpr std::string_view kFirstLine = "convlab plan, format 1";
constexpr int64_t kMostSize = int64_t{1} << 40;
constexpr int kMostThreads = 4096;
constexpr double kMostMs = 1e9;
constexpr size_t kMostDimensions = 16;

constexpr std::string_view kNone = "-";

std::string_view short_name(ElementType type) { return type == ElementType::u8 ? "u8" : "f32"; }

std::string joined(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ",") + to_text(shape);
  return text;
}

/// Lines of convolutions, and of all other operators, begin with these words.
constexpr std::string_view kConv = "conv", kOther = "op";

std::string line_of(std::string_view word, const KernelChoice& choice) {
  const bool alone = choice.next.empty();
  return fmt::format("{:<4} {:<22} {:<36} {:>9.4f} ms, next {:<22} {:>9} ms  {:<6} {}\n", word, choice.kernel,
                     choice.problem, choice.ms, alone ? kNone : choice.next,
                     alone ? kNone : fmt::format("{:.4f}", choice.next_ms), choice.why, choice.step);
}

std::string checksum(std::string_view text) {
  Fingerprint fingerprint;
  fingerprint.add(text);
  return fingerprint.hex();
}

std::string end_line(size_t convolutions, std::string_view before) {
  return fmt::format("end of {} convolutions, checksum {}", convolutions, checksum(before));
}

/// Parses the text of a plan file line by line.
class Reader {
 public:
  Reader(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  PlanFile read() {
    PlanFile file;
    if (next() != kFirstLine) fail("expected '{}' as the first line", kFirstLine);
    file.version = value("version");
    file.model = value("model");
    file.fingerprint = value("fingerprint");
    file.device =
        one_of("device", std::array{DeviceKind::cpu, DeviceKind::cuda}, [](DeviceKind x) { return name_of(x); });
    file.processor = value("processor");
    file.threads = static_cast<int>(number(value("threads"), "threads", kMostThreads));
    file.math = one_of("math", std::array{Math::fp32, Math::bf16x2, Math::tf32, Math::fp16, Math::bf16},
                       [](Math x) { return name_of(x); });
    file.mode = one_of("mode", std::array{PlanMode::layers, PlanMode::fused, PlanMode::folded},
                       [](PlanMode x) { return name_of(x); });
    file.input =
        one_of("input", std::array{ElementType::f32, ElementType::u8}, [](ElementType x) { return short_name(x); });
    file.batch = number(value("batch"), "batch", kMostSize);
    file.choices.place = place_;
    size_t convolutions = 0;
    for (std::string_view line = next(); !line.starts_with("end "); line = next()) {
      if (line.starts_with("plan ")) {
        file.choices.plans.push_back(plan(line));
      } else if (begins(line, kConv, file)) {
        file.choices.plans.back().kernels.push_back(choice(line));
        ++convolutions;
      } else if (begins(line, kOther, file)) {
        file.choices.plans.back().others.push_back(choice(line));
      } else {
        fail("expected 'plan ...', 'conv ...', 'op ...' or 'end ...', got '{}'", printable(line));
      }
    }
    const std::string_view before = text_.substr(0, begin_);
    if (text_.substr(begin_) != end_line(convolutions, before) + "\n") {
      fail("checksum mismatch: the file was edited, or text follows the last line");
    }
    return file;
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw bad_input("{}: line {}: {}; tune again", place_, line_, fmt::format(format, std::forward<Args>(args)...));
  }

  /// Returns the next line that is neither empty nor a comment.
  std::string_view next() {
    while (true) {
      ++line_;
      begin_ = at_;
      const size_t end = text_.find('\n', at_);
      if (end == std::string_view::npos) fail("unexpected end of file: the last line is missing");
      const std::string_view line = text_.substr(at_, end - at_);
      at_ = end + 1;
      if (!line.empty() && !line.starts_with('#')) return line;
    }
  }

  /// Whether the line's first word is `word` and a plan has begun.
  bool begins(std::string_view line, std::string_view word, const PlanFile& file) const {
    return line.substr(0, line.find(' ')) == word && !file.choices.plans.empty();
  }

  /// Returns the text after the key on the next line.
  std::string value(std::string_view key) {
    const std::string_view line = next();
    if (!line.starts_with(key) || line.size() <= key.size() + 1 || line[key.size()] != ' ') {
      fail("expected '{} ...', got '{}'", key, printable(line));
    }
    const std::string_view rest = line.substr(key.size() + 1);
    if (printable(rest) != rest) fail("'{}' has invalid characters", printable(rest));
    return std::string(rest);
  }

  template <class T, size_t kCount, class Name>
  T one_of(std::string_view key, const std::array<T, kCount>& all, Name name) {
    const std::string text = value(key);
    for (const T each : all) {
      if (name(each) == text) return each;
    }
    fail("unknown {} '{}'", key, text);
  }

  int64_t number(std::string_view text, std::string_view what, int64_t most) const {
    try {
      return parse_int(text, what, 1, most);
    } catch (const Error& error) {
      fail("{}", error.what());
    }
  }

  double milliseconds(std::string_view text) const {
    try {
      return parse_double(text, "time in ms", 0, kMostMs);
    } catch (const Error& error) {
      fail("{}", error.what());
    }
  }

  /// Parses "plan 16x3x224x224 channels".
  PlanChoice plan(std::string_view line) const {
    PlanChoice result{.line = line_};
    const std::vector<std::string> words = split(line, ' ');
    if (words.size() != 3) fail("expected 'plan SHAPES FAMILY', got '{}'", printable(line));
    for (const std::string& text : split(words[1], ',')) {
      Shape shape;
      const std::vector<std::string> sizes = split(text, 'x');
      if (sizes.size() > kMostDimensions) fail("too many dimensions in a shape: {}", sizes.size());
      for (const std::string& size : sizes) {
        if (text != "scalar") shape.push_back(number(size, "dimension", kMostSize));
      }
      result.inputs.push_back(std::move(shape));
    }
    if (words[2] != family_name(true) && words[2] != family_name(false)) {
      fail("expected {} or {}, got '{}'", family_name(true), family_name(false), printable(words[2]));
    }
    result.channel_lanes = words[2] == family_name(true);
    return result;
  }

  /// Parses a line that line_of() has written.
  KernelChoice choice(std::string_view line) const {
    std::string_view rest = line;
    const auto word = [&rest] {
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      const std::string_view found = rest.substr(0, rest.find(' '));
      rest.remove_prefix(found.size());
      return std::string(found);
    };
    const auto expect = [&](std::string_view wanted) {
      if (word() != wanted) fail("expected 'conv|op KERNEL PROBLEM TIME ms, next KERNEL TIME ms REASON STEP'");
    };
    KernelChoice choice{.line = line_};
    word();  // conv or op
    choice.kernel = present_name(word());
    choice.problem = word();
    choice.ms = milliseconds(word());
    expect("ms,");
    expect("next");
    choice.next = present_name(word());
    const std::string next_ms = word();
    if (choice.next == kNone) choice.next.clear();
    if (choice.next.empty() != (next_ms == kNone)) fail("next kernel or its time is missing");
    if (next_ms != kNone) choice.next_ms = milliseconds(next_ms);
    expect("ms");
    choice.why = word();
    if (std::ranges::find(kChoiceReasons, choice.why) == std::end(kChoiceReasons)) {
      fail("reason must be one of {}, got '{}'", fmt::join(kChoiceReasons, ", "), printable(choice.why));
    }
    // The reason is padded; one space precedes the name, which may contain spaces itself.
    const size_t padding = std::max<size_t>(6, choice.why.size()) - choice.why.size() + 1;
    if (rest.size() < padding) fail("step name is missing");
    choice.step = rest.substr(padding);
    for (const std::string* text : {&choice.kernel, &choice.problem, &choice.next, &choice.step}) {
      if (printable(*text) != *text) fail("'{}' has invalid characters", printable(*text));
    }
    return choice;
  }

  std::string_view text_;
  const std::string& place_;
  size_t at_ = 0, begin_ = 0;  // offsets of the text after the current line and of the current line
  int line_ = 0;
};

}  // namespace

std::string_view family_name(bool channel_lanes) { return channel_lanes ? "channels" : "images"; }

std::string fingerprint_of(const Graph& graph) {
  Fingerprint fingerprint;
  const auto add = [&](ValueId value) {
    fingerprint.add(std::to_string(value));
    const auto constant = graph.constants.find(value);
    if (constant != graph.constants.end()) fingerprint.add(to_text(constant->second.shape()));
  };
  for (const Node& node : graph.nodes) {
    fingerprint.add(node.name);
    fingerprint.add(name_of(node.op));
    for (const ValueId input : node.inputs) add(input);
    add(node.output);
  }
  for (const GraphInput& input : graph.inputs) add(input.value);
  for (const GraphOutput& output : graph.outputs) add(output.value);
  return fingerprint.hex();
}

std::string to_text(const PlanFile& file, const std::vector<std::string>& comments) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const std::string& comment : comments) text += fmt::format("# {}\n", printable(comment));
  text += fmt::format(
      "version {}\nmodel {}\nfingerprint {}\ndevice {}\nprocessor {}\nthreads {}\nmath {}\nmode {}\ninput {}\nbatch "
      "{}\n",
      file.version, printable(file.model), file.fingerprint, name_of(file.device), printable(file.processor),
      file.threads, name_of(file.math), name_of(file.mode), short_name(file.input), file.batch);
  size_t convolutions = 0;
  for (const PlanChoice& plan : file.choices.plans) {
    text += fmt::format("\nplan {} {}\n", joined(plan.inputs), family_name(plan.channel_lanes));
    for (const KernelChoice& choice : plan.kernels) text += line_of(kConv, choice);
    for (const KernelChoice& choice : plan.others) text += line_of(kOther, choice);
    convolutions += plan.kernels.size();
  }
  text += '\n';
  return text + end_line(convolutions, text) + '\n';
}

PlanFile parse_plan_file(std::string_view text, const std::string& place) { return Reader(text, place).read(); }

int header_line(std::string_view text, std::string_view key) {
  const size_t at = text.find(fmt::format("\n{} ", key));
  return 2 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace convlab
