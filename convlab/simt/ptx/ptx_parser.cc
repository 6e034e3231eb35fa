// Parses the texts of asm statements.

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "convlab/simt/ptx/ptx_lexer.h"
#include "convlab/simt/ptx/ptx_program.h"
#include "convlab/simt/ptx/special_registers.h"

namespace convlab::simt::ptx {
namespace {

/// What is wrong with a text. It does not leave parse().
struct Mistake {
  std::string what;
};

/// Returns the value of 12, 0x1fu, 0b11, 017, 1.5, 0f3F800000 and 0d3FF0000000000000.
Operand immediate(std::string_view text, bool is_negative) {
  Operand operand{.kind = Operand::Kind::integer};
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const bool is_float = text.starts_with("0f") || text.starts_with("0F");
  const bool is_double = text.starts_with("0d") || text.starts_with("0D");
  if (!is_hex && !is_float && !is_double && text.find_first_of(".eE") != std::string_view::npos) {
    const double value = std::strtod(std::string(text).c_str(), nullptr);
    operand.kind = Operand::Kind::real;
    operand.bits = std::bit_cast<uint64_t>(is_negative ? -value : value);
    return operand;
  }
  std::string_view digits = text;
  int base = 10;
  if (is_hex || is_float || is_double || text.starts_with("0b") || text.starts_with("0B")) {
    digits.remove_prefix(2);
    base = is_hex || is_float || is_double ? 16 : 2;
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  while (base != 16 ? digits.ends_with('U') || digits.ends_with('u') || digits.ends_with('L') || digits.ends_with('l')
                    : digits.ends_with('U') || digits.ends_with('u')) {
    digits.remove_suffix(1);
  }
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), operand.bits, base);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw Mistake{fmt::format("'{}' is not a number", text)};
  if (is_float) operand.kind = Operand::Kind::real32;
  if (is_double) operand.kind = Operand::Kind::real;
  if (is_negative) {
    operand.bits = is_float    ? operand.bits ^ 0x80000000u
                   : is_double ? operand.bits ^ 0x8000000000000000u
                               : -operand.bits;
  }
  return operand;
}

class Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string_view>& names) : tokens_(ptx_tokens(text)), names_(names) {
    program_.registers = names.size();
    scopes_.emplace_back();
  }

  Program run() {
    try {
      while (at_ < tokens_.size()) statement();
      if (scopes_.size() > 1) throw Mistake{"a { is not closed"};
      close_scope();
    } catch (const Mistake& mistake) {
      program_.error = mistake.what;
    }
    return std::move(program_);
  }

 private:
  struct Register {
    int number = 0;
    bool predicate = false;
  };
  struct Scope {
    std::map<std::string, Register, std::less<>> registers;
    std::map<std::string, size_t, std::less<>> labels;
    std::vector<std::pair<size_t, std::string>> branches;  // instructions, and the labels they go to
  };

  const PtxToken& token(size_t ahead = 0) const {
    if (at_ + ahead >= tokens_.size()) throw Mistake{"it ends in the middle of an instruction; one ends with ;"};
    return tokens_[at_ + ahead];
  }
  bool take(char sign) {
    if (at_ >= tokens_.size() || !tokens_[at_].is(sign)) return false;
    ++at_;
    return true;
  }
  void expect(char sign) {
    if (!take(sign)) throw Mistake{fmt::format("expected {} before '{}'", sign, token().text)};
  }

  void statement() {
    if (take(';')) return;
    if (take('{')) {
      scopes_.emplace_back();
      return;
    }
    if (take('}')) {
      if (scopes_.size() == 1) throw Mistake{"a } has no {"};
      close_scope();
      scopes_.pop_back();
      return;
    }
    if (token().kind == PtxToken::Kind::word && at_ + 1 < tokens_.size() && token(1).is(':')) {
      scopes_.back().labels[std::string(token().text)] = program_.instructions.size();
      at_ += 2;
      return;
    }
    if (token().kind == PtxToken::Kind::word && token().text.starts_with('.')) return directive();
    instruction();
  }

  /// A branch to a label of an outer scope is left to that.
  void close_scope() {
    Scope& scope = scopes_.back();
    for (auto& [from, label] : scope.branches) {
      if (const auto found = scope.labels.find(label); found != scope.labels.end()) {
        program_.instructions[from].target = found->second;
      } else if (scopes_.size() > 1) {
        scopes_[scopes_.size() - 2].branches.emplace_back(from, label);
      } else {
        throw Mistake{fmt::format("there is no label {}", label)};
      }
    }
  }

  /// .reg .b32 a, b<4>; .pragma has no effect.
  void directive() {
    const std::string_view first = token().text;
    if (first == ".pragma") {
      while (!take(';')) ++at_;
      return;
    }
    if (first != ".reg") throw Mistake{fmt::format("simt does not know the directive {} in inline PTX", first)};
    ++at_;
    const std::string_view type_name = token().text;
    const Type type = type_named(type_name.substr(type_name.starts_with('.') ? 1 : 0));
    if (type == Type::none) throw Mistake{fmt::format("simt does not know registers of type {}", type_name)};
    ++at_;
    const auto declare = [&](std::string name) {
      scopes_.back().registers[std::move(name)] = {static_cast<int>(program_.registers++), type == Type::pred};
    };
    do {
      const std::string name(token().text);
      ++at_;
      if (!take('<')) {
        declare(name);
        continue;
      }
      const uint64_t count = immediate(token().text, false).bits;
      if (count > kMostRegisters) throw Mistake{fmt::format("{} has more registers than simt allows", name)};
      ++at_;
      expect('>');
      for (uint64_t i = 0; i < count; ++i) declare(name + std::to_string(i));
    } while (take(','));
    expect(';');
    if (program_.registers > kMostRegisters) throw Mistake{"it has more registers than simt allows"};
  }

  std::optional<Register> register_named(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (const auto found = scope->registers.find(name); found != scope->registers.end()) return found->second;
    }
    return std::nullopt;
  }

  int asm_operand(std::string_view text) const {
    size_t number = names_.size();
    if (text[0] >= '0' && text[0] <= '9') {
      std::from_chars(text.data(), text.data() + text.size(), number);
    } else {
      for (size_t i = 0; i < names_.size(); ++i) {
        if (names_[i] == text) number = i;
      }
    }
    if (number >= names_.size()) throw Mistake{fmt::format("the asm statement has no operand {}", text)};
    return static_cast<int>(number);
  }

  /// A register, an immediate or _, without brackets.
  Operand simple_operand() {
    Operand operand;
    operand.negated = take('!');
    const bool is_negative = take('-');
    const PtxToken& first = token();
    ++at_;
    if (first.kind == PtxToken::Kind::number) return immediate(first.text, is_negative);
    if (is_negative) throw Mistake{fmt::format("only numbers have a sign, but '{}' follows one", first.text)};
    if (first.kind == PtxToken::Kind::operand) {
      operand.kind = Operand::Kind::reg;
      operand.reg = asm_operand(first.text);
    } else if (first.kind == PtxToken::Kind::word && first.text == "_") {
      operand.kind = Operand::Kind::sink;
    } else if (const auto own = register_named(first.text)) {
      operand.kind = Operand::Kind::reg;
      operand.reg = own->number;
      operand.predicate = own->predicate;
    } else if (const auto special = special_named(first.text)) {
      operand.kind = Operand::Kind::special;
      operand.reg = static_cast<int>(*special);
    } else {
      throw Mistake{fmt::format("simt does not know the register or variable '{}'", first.text)};
    }
    return operand;
  }

  void operand(Instruction& made, char letter) {
    Group& group = made.groups[made.group_count++];
    group.begin = made.operands.size();
    if (letter == 'm') {
      expect('[');
      Operand address = simple_operand();
      const bool is_negative = take('-');
      if (is_negative || take('+')) {
        const bool is_twice = take('-');  // a macro's +-8
        address.offset = static_cast<int64_t>(immediate(token().text, is_negative != is_twice).bits);
        ++at_;
      }
      expect(']');
      made.operands.push_back(address);
    } else if (letter == 'l') {
      scopes_.back().branches.emplace_back(program_.instructions.size(), std::string(token().text));
      ++at_;
      made.operands.emplace_back();
    } else if (take('{')) {
      do {
        made.operands.push_back(simple_operand());
      } while (take(','));
      expect('}');
    } else {
      made.operands.push_back(simple_operand());
      if (letter == 'd' && take('|')) made.operands.push_back(simple_operand());
    }
    group.count = made.operands.size() - group.begin;
  }

  void modifiers(Instruction& made, std::string_view name) {
    if (!is_known(name)) throw Mistake{fmt::format("simt does not know the instruction {}", name)};
    made.row = &kTable[row_of(name)];
    std::string_view rest = name.substr(made.row->name.size());
    while (!rest.empty()) {
      rest.remove_prefix(1);
      const size_t end = std::min(rest.find('.'), rest.size());
      const std::string_view part = rest.substr(0, end);
      if (is_in_list(made.row->types, part)) {
        if (made.type_count == Instruction::kMostTypes) throw Mistake{fmt::format("{} has too many types", name)};
        made.types[made.type_count++] = type_named(part);
      } else if (const size_t number = number_of_word(part); number < kMostWords) {
        made.words.set(number);
      }
      rest = rest.substr(end);
    }
  }

  void instruction() {
    Instruction made;
    const size_t begin = at_;
    if (take('@')) {
      const Operand guard = simple_operand();
      if (guard.kind != Operand::Kind::reg) throw Mistake{"@ needs a predicate register"};
      made.guard = guard.reg;
      made.guard_negated = guard.negated;
    }
    if (token().kind != PtxToken::Kind::word)
      throw Mistake{fmt::format("'{}' does not begin an instruction", token().text)};
    const std::string_view name = token().text;
    ++at_;
    modifiers(made, name);
    bool optional = false;
    for (const char letter : made.row->operands) {
      if (letter == '?') {
        optional = true;
        continue;
      }
      if (optional && at_ < tokens_.size() && tokens_[at_].is(';')) break;
      if (made.group_count > 0) expect(',');
      operand(made, letter);
    }
    const size_t end = at_;
    if (!take(';') && !(at_ < tokens_.size() && tokens_[at_].is('}'))) {
      throw Mistake{at_ < tokens_.size() ? fmt::format("expected ; before '{}'", token().text)
                                         : "an instruction lacks its ;"};
    }
    const char* const from = tokens_[begin].text.data();
    made.text.assign(from, static_cast<size_t>(tokens_[end - 1].text.data() + tokens_[end - 1].text.size() - from));
    program_.instructions.push_back(std::move(made));
  }

  std::vector<PtxToken> tokens_;
  const std::vector<std::string_view>& names_;
  size_t at_ = 0;
  Program program_;
  std::vector<Scope> scopes_;
};

}  // namespace

Program parse(std::string_view text, const std::vector<std::string_view>& names) { return Parser(text, names).run(); }

}  // namespace convlab::simt::ptx
