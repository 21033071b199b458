#include "adapters/conformance/rules.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

namespace holdfast {
namespace {

constexpr std::chrono::milliseconds kEndLimit{2000};
constexpr int kLease = 30000;  // long enough that no lease runs out during a rule
constexpr int kMalformed = 3;

// A lock, and hold ids, that nothing else uses.
std::string fresh_key() {
  static int number = 0;
  return "holdfast-conformance-" + std::to_string(getpid()) + "-" + std::to_string(++number);
}
std::uint64_t fresh_hold() {
  static std::uint64_t hold = 0;
  return ++hold;
}

Json acquire(const std::string& key, std::uint64_t hold) {
  return {{"f", "acquire"}, {"key", key}, {"value", {{"hold", hold}, {"lease_ms", kLease}}}};
}
Json release(const std::string& key, std::uint64_t hold) {
  return {{"f", "release"}, {"key", key}, {"value", {{"hold", hold}}}};
}
const Json kUnknown = {{"f", "no-such-operation"}, {"key", "L1"}, {"value", nullptr}};

// True: it is open. Without servers a client may refuse, and then only the form of its answers can be examined.
bool open(Speaker& client, const Subject& subject) {
  const Json answer = client.open();
  if (answer["type"] != "ok") {
    if (!subject.servers.empty() || answer["type"] != "fail") client.complain("expected open to be answered ok");
    return false;
  }
  const Json value = answer.value("value", Json());
  if (!value.is_object() || value.value("protocol", Json()) != 1) client.complain("expected value.protocol 1");
  if (!value.contains("name") || !value["name"].is_string() || value["name"].get<std::string>().empty())
    client.complain("expected value.name, the name of the adapter");
  return true;
}

void answers_open(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
}

void refuses_unknown_version(const Subject& subject) {
  Speaker client(subject, "c1");
  if (client.open(99)["type"] != "fail") client.complain("expected type fail: nobody speaks protocol 99");
  open(client, subject);  // it must still be there, and take the right version
}

void echoes_ids(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
  for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{700}, std::uint64_t{1} << 40U}) {
    Json request = kUnknown;
    request["id"] = id;
    client.request(request);
  }
}

void answers_once(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
  const auto id = client.send(kUnknown);
  client.answer(id);
  client.expect_silence(id);
}

void refuses_unknown_operation(const Subject& subject) {
  Speaker client(subject, "c1");
  const bool is_open = open(client, subject);
  client.require_fail(client.request(kUnknown), is_open ? "unsupported" : "");
}

void ends_with_input(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
  client.request(kUnknown);
  client.child().close_input();
  const int status = client.exit_status(kEndLimit);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    client.complain("expected exit 0 after the end of input, not " + describe_exit(status));
}

void ends_at_malformed_line(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
  client.send_line(R"({"id":1,"f":)");
  const int status = client.exit_status(kEndLimit);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != kMalformed)
    client.complain("expected exit 3 after a line that is not JSON, not " + describe_exit(status));
}

void refuses_a_held_lock(const Subject& subject) {
  Speaker holder(subject, "c1");
  Speaker other(subject, "c2");
  open(holder, subject);
  open(other, subject);
  const std::string key = fresh_key();
  const auto hold = fresh_hold();
  holder.require_ok(holder.request(acquire(key, hold)));
  const Json answer = other.request(acquire(key, fresh_hold()));
  holder.request(release(key, hold));
  other.require_fail(answer, "held");
}

void grants_a_released_lock(const Subject& subject) {
  Speaker holder(subject, "c1");
  Speaker other(subject, "c2");
  open(holder, subject);
  open(other, subject);
  const std::string key = fresh_key();
  const auto first = fresh_hold();
  const Json granted = holder.request(acquire(key, first));
  holder.require_ok(granted);
  holder.require_ok(holder.request(release(key, first)));
  const auto second = fresh_hold();
  const Json again = other.request(acquire(key, second));
  other.require_ok(again);
  const auto token = [](const Json& answer) {
    const Json value = answer.value("value", Json());
    return value.is_object() ? value.value("token", Json()) : Json();
  };
  if (token(granted).is_null() != token(again).is_null() || (!token(again).is_null() && token(again) <= token(granted)))
    other.complain("expected a token above " + token(granted).dump());
  other.request(release(key, second));
}

void refuses_a_second_release(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
  const std::string key = fresh_key();
  const auto hold = fresh_hold();
  client.require_ok(client.request(acquire(key, hold)));
  client.require_ok(client.request(release(key, hold)));
  client.require_fail(client.request(release(key, hold)), "not-held");
}

void passes_reads_and_writes_on(const Subject& subject) {
  Speaker client(subject, "c1");
  open(client, subject);
  const std::string key = fresh_key();
  const auto hold = fresh_hold();
  const Json read = {{"f", "read"}, {"key", key}, {"value", {{"hold", hold}}}};
  const Json write = {{"f", "write"}, {"key", key}, {"value", {{"hold", hold}, {"was", 0}, {"now", 1007}}}};
  const auto expect_value = [&client](const Json& answer, int expected) {
    client.require_ok(answer);
    if (answer.value("value", Json()) != Json{{"value", expected}})
      client.complain("expected value {\"value\":" + std::to_string(expected) + "}");
  };
  expect_value(client.request(read), 0);
  client.require_ok(client.request(write));
  expect_value(client.request(read), 1007);
}

void stops_at(const Subject& subject, const std::string& f, const std::string& step) {
  Speaker client(subject, "c1");
  open(client, subject);
  const std::string key = fresh_key();
  const auto hold = fresh_hold();
  if (f == "release") client.require_ok(client.request(acquire(key, hold)));
  Json request = f == "release" ? release(key, hold) : acquire(key, hold);
  request["stop_at"] = {step};
  const auto id = client.send(request);
  const Json announced = client.step(id);
  if (announced["step"] != step || announced["key"] != key || announced["value"]["hold"] != hold)
    client.complain("expected the step \"" + step + "\" with the key and hold of the request");
  client.expect_silence(id);
  client.send_line(R"({"continue":)" + std::to_string(id) + "}");
  client.require_ok(client.answer(id));
  if (f != "release") client.request(release(key, hold));
}

struct Rule {
  std::string name;
  std::function<void()> check;
};

std::vector<Rule> rules_for(const Examination& examination) {
  const Subject& subject = examination.subject;
  const auto rule = [&subject](const char* name, void (*check)(const Subject&)) {
    return Rule{.name = name, .check = [&subject, check] { check(subject); }};
  };
  std::vector<Rule> rules = {
      rule("open is answered with the protocol version and a name", answers_open),
      rule("an open with an unknown protocol version fails, and the client stays", refuses_unknown_version),
      rule("an answer carries the id of its request", echoes_ids),
      rule("a request is answered once", answers_once),
      rule("an unknown operation fails as unsupported", refuses_unknown_operation),
      rule("the end of input ends the client within 2 s, exit 0", ends_with_input),
      rule("a line that is not JSON ends the client, exit 3", ends_at_malformed_line),
  };
  if (!subject.servers.empty() && examination.locks) {
    rules.push_back(rule("a held lock is refused to another process: fail held", refuses_a_held_lock));
    rules.push_back(rule("a released lock is granted again, tokens grow", grants_a_released_lock));
    rules.push_back(rule("a second release fails: not-held", refuses_a_second_release));
    for (const auto& [f, step] : examination.steps) {
      std::string name = f;
      name.append(" stops at ").append(step).append(" when asked, and goes on when told");
      rules.push_back(
          {.name = std::move(name), .check = [&subject, f = f, step = step] { stops_at(subject, f, step); }});
    }
  }
  if (subject.resource) rules.push_back(rule("read and write reach the guarded resource", passes_reads_and_writes_on));
  return rules;
}

}  // namespace

bool examine(const Examination& examination) {
  std::size_t failed = 0;
  const auto rules = rules_for(examination);
  for (const Rule& rule : rules) {
    try {
      rule.check();
      std::printf("ok      %s\n", rule.name.c_str());
    } catch (const Broken& broken) {
      ++failed;
      std::printf("FAILED  %s: %s\n", rule.name.c_str(), broken.what());
    }
    std::fflush(stdout);
  }
  std::printf("%zu of %zu rules kept\n", rules.size() - failed, rules.size());
  return failed == 0;
}

}  // namespace holdfast
