#include "checkers/verify/certificate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace holdfast::verify {

namespace {

using nlohmann::json;
using objects::Answer;
using objects::FenceRule;
using objects::Identity;
using objects::Instant;
using objects::Kind;
using objects::kNever;
using objects::kNothing;
using objects::Promise;

constexpr std::int64_t kVersion = 1;
constexpr std::array<std::pair<std::string_view, Identity>, 4> kIdentities = {
    {{"crash", Identity::crash}, {"hold", Identity::hold}, {"session", Identity::session}, {"reuse", Identity::reuse}}};
constexpr std::array<std::pair<std::string_view, FenceRule>, 2> kFenceRules = {
    {{"increasing", FenceRule::increasing}, {"by-one", FenceRule::by_one}}};
constexpr std::array<Answer, 3> kAnswers = {Answer::linearizable, Answer::violation, Answer::undecided};

std::string shown(const json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

[[noreturn]] void refuse(const std::string& member, const json& value, const std::string& wanted) {
  throw std::invalid_argument("certificate: \"" + member + "\" is " + shown(value) + ", not " + wanted);
}

// The members of one JSON object; each may be asked for once, and in the end none may be left.
class Members {
 public:
  Members(const json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object.is_object()) refuse(name_, object, "an object");
  }

  const json* find(const std::string& member) {
    asked_.push_back(member);
    const auto found = object_.find(member);
    return found == object_.end() ? nullptr : &*found;
  }
  const json& at(const std::string& member) {
    const json* const found = find(member);
    if (found == nullptr) throw std::invalid_argument("certificate: \"" + member + "\" is missing in " + name_);
    return *found;
  }
  void finish() const {
    for (const auto& each : object_.items()) {
      if (std::ranges::find(asked_, each.key()) == asked_.end()) {
        refuse(each.key(), each.value(), "anything that a certificate has in " + name_);
      }
    }
  }

  std::int64_t number(const std::string& member, std::int64_t fallback,
                      std::int64_t least = std::numeric_limits<std::int64_t>::min()) {
    const json* const value = find(member);
    return value == nullptr ? fallback : to_number(member, *value, least);
  }
  std::uint32_t count(const std::string& member, std::uint32_t fallback) {
    const json* const value = find(member);
    if (value == nullptr) return fallback;
    const std::int64_t number = to_number(member, *value, 0);
    if (number > std::numeric_limits<std::uint32_t>::max()) refuse(member, *value, "a 32-bit number");
    return static_cast<std::uint32_t>(number);
  }
  std::string text(const std::string& member) {
    const json* const value = find(member);
    if (value == nullptr) return {};
    if (!value->is_string()) refuse(member, *value, "a text");
    return value->get<std::string>();
  }
  // Empty when it is not there.
  std::vector<std::int64_t> numbers(const std::string& member) {
    const json* const value = find(member);
    if (value == nullptr) return {};
    if (!value->is_array()) refuse(member, *value, "a list");
    std::vector<std::int64_t> result;
    result.reserve(value->size());
    for (const json& each : *value) result.push_back(to_number(member, each, kNothing));
    return result;
  }

 private:
  static std::int64_t to_number(const std::string& member, const json& value, std::int64_t least) {
    if (!value.is_number_integer()) refuse(member, value, "a whole number");
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse(member, value, "a 64-bit number");
    }
    const auto number = value.get<std::int64_t>();
    if (number < least) refuse(member, value, "at least " + std::to_string(least));
    return number;
  }

  const json& object_;
  std::string name_;
  std::vector<std::string> asked_;
};

template <typename Number>
std::vector<std::int64_t> differences(std::span<const Number> numbers) {
  std::vector<std::int64_t> result;
  result.reserve(numbers.size());
  std::int64_t last = 0;
  for (const Number number : numbers) {
    // Instants may be further apart than 64 bits can say; the difference then wraps, here and when it is undone.
    result.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(last)));
    last = static_cast<std::int64_t>(number);
  }
  return result;
}

template <typename Number>
std::vector<Number> sums(const std::string& member, std::span<const std::int64_t> differences) {
  std::vector<Number> result;
  result.reserve(differences.size());
  std::int64_t sum = 0;
  for (const std::int64_t difference : differences) {
    sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(difference));
    if (!std::in_range<Number>(sum)) refuse(member, sum, "the number of an operation");
    result.push_back(static_cast<Number>(sum));
  }
  return result;
}

json write_promise(const Promise& promise) {
  json object = {{"kind", to_string(promise.kind)},
                 {"identity", kIdentities.at(static_cast<std::size_t>(promise.identity)).first}};
  const Promise usual;
  if (promise.initial != usual.initial) object["initial"] = promise.initial;
  if (promise.reentrancy != usual.reentrancy) object["reentrancy"] = promise.reentrancy;
  if (promise.permits != usual.permits) object["permits"] = promise.permits;
  if (promise.lease_least != usual.lease_least) object["lease_least"] = promise.lease_least;
  if (promise.lease_greatest != usual.lease_greatest) object["lease_greatest"] = promise.lease_greatest;
  if (promise.fence != usual.fence) object["fence"] = kFenceRules.at(static_cast<std::size_t>(promise.fence)).first;
  return object;
}

template <typename Table>
auto look_up(const Table& table, const std::string& member, const json& value, const std::string& wanted) {
  if (value.is_string()) {
    for (const auto& [name, meaning] : table) {
      if (value.get_ref<const std::string&>() == name) return meaning;
    }
  }
  refuse(member, value, wanted);
}

Kind read_kind(const json& value) {
  std::vector<std::pair<std::string_view, Kind>> kinds;
  for (auto kind = Kind::register_;; kind = static_cast<Kind>(static_cast<std::uint8_t>(kind) + 1)) {
    kinds.emplace_back(to_string(kind), kind);
    if (kind == Kind::fair_mutex) break;  // the last one
  }
  return look_up(kinds, "kind", value, "a kind of object");
}

Promise read_promise(const json& value) {
  Members members(value, "model");
  Promise promise{.kind = read_kind(members.at("kind"))};
  promise.identity = look_up(kIdentities, "identity", members.at("identity"), "crash, hold, session or reuse");
  promise.initial = members.number("initial", promise.initial);
  promise.reentrancy = members.count("reentrancy", promise.reentrancy);
  promise.permits = members.count("permits", promise.permits);
  promise.lease_least = members.number("lease_least", promise.lease_least, 0);
  promise.lease_greatest = members.number("lease_greatest", promise.lease_greatest, 0);
  if (const json* const fence = members.find("fence")) {
    promise.fence = look_up(kFenceRules, "fence", *fence, "increasing or by-one");
  }
  members.finish();
  return promise;
}

Answer read_answer(const json& value) {
  std::vector<std::pair<std::string_view, Answer>> answers;
  for (const Answer answer : kAnswers) answers.emplace_back(to_string(answer), answer);
  return look_up(answers, "answer", value, "linearizable, violation or undecided");
}

}  // namespace

std::string write_certificate(const Certificate& certificate) {
  const objects::Decision& decision = certificate.decision;
  json object = {
      {"version", kVersion}, {"model", write_promise(certificate.promise)}, {"answer", to_string(decision.answer)}};
  if (!certificate.key.empty()) object["key"] = certificate.key;
  if (!certificate.witness_file.empty()) {
    object["witness_file"] = certificate.witness_file;
  } else if (!decision.witness.empty()) {
    object["witness"] = differences<std::uint32_t>(decision.witness);
  }
  if (!decision.instants.empty()) object["instants"] = differences<Instant>(decision.instants);
  if (!decision.core.empty()) object["core"] = decision.core;
  if (!decision.rule.empty()) object["rule"] = decision.rule;
  if (!decision.because.empty()) object["because"] = decision.because;
  if (decision.from != 0) object["from"] = decision.from;
  if (decision.to != 0) object["to"] = decision.to;
  if (decision.proven_until) object["proven_until"] = *decision.proven_until;
  if (decision.searched != 0) object["searched"] = decision.searched;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Certificate read_certificate(std::string_view text) {
  json parsed;
  try {
    parsed = json::parse(text);
  } catch (const json::exception& error) {
    throw std::invalid_argument(std::string("certificate: no JSON: ") + error.what());
  }
  Members members(parsed, "the certificate");
  if (const json& version = members.at("version"); version != kVersion) refuse("version", version, "1");
  Certificate certificate{.key = members.text("key"), .promise = read_promise(members.at("model"))};
  objects::Decision& decision = certificate.decision;
  decision.answer = read_answer(members.at("answer"));
  decision.witness = sums<std::uint32_t>("witness", members.numbers("witness"));
  certificate.witness_file = members.text("witness_file");
  if (!certificate.witness_file.empty() && !decision.witness.empty()) {
    refuse("witness_file", certificate.witness_file, "to be together with a witness");
  }
  decision.instants = sums<Instant>("instants", members.numbers("instants"));
  for (const std::int64_t member : members.numbers("core")) {
    if (!std::in_range<std::uint32_t>(member)) refuse("core", member, "the number of an operation");
    decision.core.push_back(static_cast<std::uint32_t>(member));
  }
  decision.rule = members.text("rule");
  decision.because = members.text("because");
  decision.from = members.number("from", 0);
  decision.to = members.number("to", 0);
  if (decision.from > decision.to) refuse("from", decision.from, "at most \"to\", " + std::to_string(decision.to));
  if (members.find("proven_until") != nullptr) decision.proven_until = members.number("proven_until", 0);
  decision.searched = static_cast<std::uint64_t>(members.number("searched", 0, 0));
  members.finish();
  return certificate;
}

std::string write_witness(std::span<const std::uint32_t> witness) {
  std::string text;
  for (const std::int64_t difference : differences(witness)) {
    if (!text.empty()) text += ' ';
    text += std::to_string(difference);
  }
  return text;
}

std::vector<std::uint32_t> read_witness(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = text.find_first_not_of(kBlanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    std::int64_t number = 0;
    const char* const last = text.data() + end;
    const auto [stop, error] = std::from_chars(text.data() + begin, last, number);
    if (error != std::errc() || stop != last) {
      refuse("witness", text.substr(begin, end - begin), "a whole number");
    }
    numbers.push_back(number);
    begin = text.find_first_not_of(kBlanks, end);
  }
  return sums<std::uint32_t>("witness", numbers);
}

}  // namespace holdfast::verify
