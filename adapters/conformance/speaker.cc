#include "adapters/conformance/speaker.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace holdfast {
namespace {

constexpr std::chrono::milliseconds kSilence{200};  // long enough for an answer that should not come
constexpr std::size_t kShown = 300;                 // bytes of a line in a complaint

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shown(const std::string& line) {
  if (line.empty()) return "nothing";
  std::string text = line.substr(0, kShown);
  const bool printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  // As a JSON string, bytes that would upset a terminal are escaped or replaced.
  if (!printable) text = Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
  if (line.size() > kShown) text += "...";
  return text;
}

bool is_text(const Json& message, const char* field) {
  return message.contains(field) && message[field].is_string();
}

}  // namespace

Speaker::Speaker(const Subject& subject, std::string client)
    : subject_(subject), client_(std::move(client)), child_(subject.command) {}

Json Speaker::open(int protocol) {
  Json value = {{"protocol", protocol},        {"client", client_},   {"process", 0},
                {"servers", subject_.servers}, {"resource", nullptr}, {"options", subject_.options}};
  if (subject_.resource) value["resource"] = *subject_.resource;
  return request({{"f", "open"}, {"value", value}});
}

std::uint64_t Speaker::send(Json request) {
  const std::uint64_t id = request.contains("id") ? request["id"].get<std::uint64_t>() : next_id_;
  request["id"] = id;
  next_id_ = id + 1;
  send_line(dump(request));
  return id;
}

void Speaker::send_line(const std::string& line) {
  sent_ = line;
  received_.clear();
  child_.send(line);
}

Json Speaker::request(Json request) {
  return answer(send(std::move(request)));
}
Json Speaker::answer(std::uint64_t id) {
  return await(id, Kind::answer);
}
Json Speaker::step(std::uint64_t id) {
  return await(id, Kind::step);
}

Json Speaker::await(std::uint64_t id, Kind kind) {
  const auto deadline = std::chrono::steady_clock::now() + subject_.limit;
  while (true) {
    auto message = receive(deadline);
    if (!message) complain("no answer within " + std::to_string(subject_.limit.count()) + " ms");
    if (message->kind == Kind::note) continue;
    if (message->json["id"] != id) complain("expected id " + std::to_string(id));
    if (message->kind != kind)
      complain(kind == Kind::step ? "expected a step before the answer" : "expected the answer, not a step");
    return std::move(message->json);
  }
}

Json Speaker::note(std::string_view event) {
  const auto deadline = std::chrono::steady_clock::now() + subject_.limit;
  while (true) {
    auto message = receive(deadline);
    if (!message) complain("no note \"" + std::string(event) + "\"");
    if (message->kind == Kind::note && message->json["event"] == event) return std::move(message->json);
  }
}

void Speaker::expect_silence(std::uint64_t id) {
  const auto deadline = std::chrono::steady_clock::now() + kSilence;
  while (const auto message = receive(deadline))
    if (message->kind != Kind::note) complain("expected nothing more for id " + std::to_string(id) + " just now");
}

std::optional<Speaker::Message> Speaker::receive(Child::Deadline deadline) {
  // A client that floods would keep us here for ever, since there is always a line: look at the clock as well.
  if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
  auto line = child_.receive(deadline);
  switch (line.status) {
    case Child::Status::timeout:
      return std::nullopt;
    case Child::Status::too_long:
      complain("a line longer than " + std::to_string(kLineLimit) + " bytes");
    case Child::Status::ended: {
      received_ = line.text;
      const auto status = child_.wait(std::chrono::steady_clock::now() + subject_.limit);
      complain("standard output ended" + (status ? " (" + describe_exit(*status) + ")" : std::string()) +
               (line.text.empty() ? "" : " in the middle of a line"));
    }
    case Child::Status::line:
      break;
  }
  received_ = std::move(line.text);
  Json json = Json::parse(received_, nullptr, false);
  if (!json.is_object()) complain("a line that is not a JSON object");
  const Kind kind = examine(json);
  return Message{.kind = kind, .json = std::move(json)};
}

// The form of every line, whatever it answers.
Speaker::Kind Speaker::examine(const Json& message) const {
  if (message.contains("event")) {
    constexpr std::array<std::string_view, 4> kEvents = {"lost", "renewing", "renewed", "step"};
    if (!is_text(message, "event") ||
        std::find(kEvents.begin(), kEvents.end(), message["event"].get<std::string>()) == kEvents.end())
      complain(R"(a note's "event" must be lost, renewing, renewed or step)");
    if (!is_text(message, "key")) complain("a note needs a \"key\"");
    if (!message.contains("value") || !message["value"].is_object() || !message["value"].contains("hold") ||
        !message["value"]["hold"].is_number_unsigned())
      complain(R"(a note needs a "value" with the hold id: {"hold":12})");
    if (message["event"] != "step") return Kind::note;
    if (!is_text(message, "step") || !message.contains("id")) complain(R"(a step needs "step" and "id")");
    return Kind::step;
  }
  if (!message.contains("id") || !message["id"].is_number_unsigned()) complain("an answer needs the \"id\"");
  if (!is_text(message, "type")) complain("an answer needs a \"type\"");
  const auto& type = message["type"];
  if (type != "ok" && type != "fail" && type != "info") complain("an answer's \"type\" must be ok, fail or info");
  if (type != "ok" && !is_text(message, "error")) complain("fail and info need an \"error\" that says why");
  return Kind::answer;
}

int Speaker::exit_status(std::chrono::milliseconds limit) {
  const auto status = child_.wait(std::chrono::steady_clock::now() + limit);
  if (!status) complain("still running after " + std::to_string(limit.count()) + " ms");
  return *status;
}

void Speaker::complain(const std::string& what) const {
  throw Broken(what + "; sent " + (sent_.empty() ? "nothing" : sent_) + "; received " + shown(received_));
}

void Speaker::require_ok(const Json& answer) const {
  if (answer["type"] != "ok") complain("expected type ok");
}

void Speaker::require_fail(const Json& answer, const std::string& error) const {
  if (answer["type"] != "fail" || !answer["error"].get<std::string>().starts_with(error))
    complain("expected type fail with error \"" + error + "\"");
}

}  // namespace holdfast
