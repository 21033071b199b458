#include "adapters/cpp/adapter.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "adapters/cpp/address.h"
#include "adapters/cpp/lines.h"
#include "adapters/cpp/resource_link.h"

namespace holdfast {
namespace {

constexpr int kMalformed = 3;  // exit status after a line that cannot be parsed

// Text that came from outside may hold bytes that are not UTF-8; they must not stop an answer.
std::string dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view to_string(Answer::Type type) {
  switch (type) {
    case Answer::Type::ok:
      return "ok";
    case Answer::Type::fail:
      return "fail";
    case Answer::Type::info:
      return "info";
  }
  return "info";
}

OpenValue parse_open(const Json& value) {
  OpenValue open;
  open.client = value.at("client").get<std::string>();
  open.process = value.at("process").get<std::int64_t>();
  open.servers = value.at("servers").get<std::vector<std::string>>();
  if (value.contains("resource") && !value["resource"].is_null()) open.resource = value["resource"].get<std::string>();
  if (value.contains("options") && value["options"].is_object()) open.options = value["options"];
  if (open.options.contains("timeout_ms"))
    open.timeout = std::chrono::milliseconds(open.options["timeout_ms"].get<std::int64_t>());
  if (open.timeout.count() <= 0) throw std::invalid_argument("options.timeout_ms must be positive");
  return open;
}

}  // namespace

class Conversation {
 public:
  Conversation(Adapter& adapter, int input, int output) : adapter_(adapter), input_(input), output_(output) {
    adapter_.conversation_ = this;
  }

  int run();
  void step(const Request& request, std::string_view step, const Json& value);
  void note(std::string_view event, std::string_view key, const Json& value);

 private:
  std::optional<std::string_view> next_line();
  void serve(std::string_view line);
  Answer answer(const Request& request);
  Answer open(const Request& request);
  void forward(const Request& request);
  void send(std::uint64_t id, const Answer& answer);
  void write_out(std::string_view text);

  Adapter& adapter_;
  const int input_;
  const int output_;
  LineBuffer lines_;
  ResourceLink resource_;
  bool opened_ = false;
  std::string outgoing_;
  std::mutex output_mutex_;  // notes come from other threads; a line must not be torn
};

int Conversation::run() {
  while (const auto line = next_line()) serve(*line);
  return EXIT_SUCCESS;
}

std::optional<std::string_view> Conversation::next_line() {
  while (true) {
    if (const auto line = lines_.next()) return line;
    const std::ptrdiff_t count = lines_.fill(input_);
    if (count == 0) return std::nullopt;
    if (count > 0 || errno == EINTR) continue;
    if (errno == EMSGSIZE) throw MalformedLine("longer than " + std::to_string(kLineLimit) + " bytes");
    if (errno != EAGAIN) return std::nullopt;
    wait_for(input_, POLLIN, std::chrono::steady_clock::time_point::max());
  }
}

void Conversation::serve(std::string_view line) {
  Envelope envelope = parse_envelope(line);
  if (envelope.resume) throw MalformedLine("\"continue\" without a step that waits for it");
  if (!envelope.id || envelope.f.empty()) throw MalformedLine(R"(a request needs "id" and "f")");
  const Request request{.id = *envelope.id,
                        .f = std::move(envelope.f),
                        .key = std::move(envelope.key),
                        .value_text = envelope.value,
                        .line = line,
                        .stop_at = std::string(envelope.stop_at)};
  if (opened_ && adapter_.forwards(request.f)) {
    forward(request);
  } else {
    send(request.id, answer(request));
  }
}

Answer Conversation::answer(const Request& request) {
  try {
    if (request.f == "open") return open(request);
    if (!opened_) return Answer::fail("not open: the first request must be an open that is answered ok");
    return adapter_.invoke(request);
  } catch (const MalformedLine&) {
    throw;
  } catch (const std::exception& error) {
    return Answer::info(std::string("indeterminate: ") + error.what());
  }
}

Answer Conversation::open(const Request& request) {
  opened_ = false;
  OpenValue parsed;
  try {
    const Json value = request.value();
    const auto protocol = value.at("protocol").get<std::int64_t>();
    if (protocol != kProtocol) {
      return Answer::fail("protocol " + std::to_string(protocol) + " is not supported: this client speaks " +
                          std::to_string(kProtocol));
    }
    parsed = parse_open(value);
    resource_.configure(parsed.resource.value_or(""), parsed.timeout);
  } catch (const std::exception& error) {
    return Answer::fail(std::string("open: ") + error.what());
  }
  Answer answer = adapter_.open(parsed);
  opened_ = answer.type == Answer::Type::ok;
  if (opened_ && answer.value.is_null()) answer.value = {{"protocol", kProtocol}, {"name", adapter_.name()}};
  return answer;
}

void Conversation::forward(const Request& request) {
  const auto exchange = resource_.exchange(request.line);
  if (!exchange.error.empty()) {
    // A read changes nothing, so one without an answer simply did not happen.
    const bool unknown = exchange.sent && request.f != "read";
    send(request.id, unknown ? Answer::info(exchange.error) : Answer::fail(exchange.error));
    return;
  }
  const std::scoped_lock lock(output_mutex_);
  outgoing_.assign(exchange.line);
  outgoing_ += '\n';
  write_out(outgoing_);
}

void Conversation::send(std::uint64_t id, const Answer& answer) {
  const std::scoped_lock lock(output_mutex_);
  outgoing_.assign(R"({"id":)").append(std::to_string(id));
  outgoing_.append(R"(,"type":")").append(to_string(answer.type)).append("\"");
  if (!answer.value.is_null()) outgoing_.append(R"(,"value":)").append(dump(answer.value));
  if (answer.type != Answer::Type::ok) outgoing_.append(R"(,"error":)").append(dump(answer.error));
  outgoing_ += "}\n";
  write_out(outgoing_);
}

void Conversation::note(std::string_view event, std::string_view key, const Json& value) {
  const std::string line = dump({{"event", event}, {"key", key}, {"value", value}}) + '\n';
  const std::scoped_lock lock(output_mutex_);
  write_out(line);
}

void Conversation::step(const Request& request, std::string_view step, const Json& value) {
  if (request.stop_at.empty()) return;
  const Json names = Json::parse(request.stop_at);
  if (!names.is_array() || std::find(names.begin(), names.end(), step) == names.end()) return;
  const std::string line =
      dump({{"event", "step"}, {"id", request.id}, {"step", step}, {"key", request.key}, {"value", value}}) + '\n';
  {
    const std::scoped_lock lock(output_mutex_);
    write_out(line);
  }
  const auto next = next_line();
  if (!next) std::_Exit(EXIT_SUCCESS);
  if (parse_envelope(*next).resume != request.id)
    throw MalformedLine("expected {\"continue\":" + std::to_string(request.id) + "}");
}

void Conversation::write_out(std::string_view text) {
  if (!write_all(output_, text)) std::_Exit(EXIT_SUCCESS);  // nobody listens any more
}

void Adapter::step(const Request& request, std::string_view step, const Json& value) {
  conversation_->step(request, step, value);
}

void Adapter::note(std::string_view event, std::string_view key, const Json& value) {
  conversation_->note(event, key, value);
}

int run_adapter(Adapter& adapter, int input, int output) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed connection is an answer, not the end
  Conversation conversation(adapter, input, output);
  try {
    conversation.run();
  } catch (const MalformedLine& error) {
    std::fprintf(stderr, "standard input: cannot read a request: %s\n", error.what());
    std::fflush(stderr);
    std::_Exit(kMalformed);
  }
  // Other threads may still be in a server call that takes seconds; nothing of theirs is worth waiting for.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace holdfast
