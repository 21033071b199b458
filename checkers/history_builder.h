// For tests: writes lock histories by hand, in milliseconds. Each call appends one event; times must not go back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checkers/registry.h"

namespace holdfast::testing {

class HistoryBuilder {
 public:
  explicit HistoryBuilder(std::string key = "L1") : key_(std::move(key)) {}

  HistoryBuilder& at(double ms) {
    time_ = std::chrono::duration_cast<Time>(std::chrono::duration<double, std::milli>(ms));
    return *this;
  }
  HistoryBuilder& on(std::string key) {
    key_ = std::move(key);
    return *this;
  }

  // A hold id is asked for everywhere; lease 0: none.
  HistoryBuilder& acquire(int process, int hold, int lease_ms = 600) {
    Value value = {{"hold", hold}};
    if (lease_ms > 0) value["lease_ms"] = lease_ms;
    return add(EventType::invoke, process, "acquire", value);
  }
  HistoryBuilder& granted(int process) { return add(EventType::ok, process, "acquire", nullptr); }
  HistoryBuilder& granted(int process, int token) { return add(EventType::ok, process, "acquire", {{"token", token}}); }
  HistoryBuilder& refused(int process) { return add(EventType::fail, process, "acquire", nullptr, "held"); }
  HistoryBuilder& release(int process, int hold) {
    return add(EventType::invoke, process, "release", {{"hold", hold}});
  }
  HistoryBuilder& released(int process) { return add(EventType::ok, process, "release", nullptr); }
  HistoryBuilder& not_held(int process) { return add(EventType::fail, process, "release", nullptr, "not-held"); }
  HistoryBuilder& read(int process, int hold, int token = 0) {
    return add(EventType::invoke, process, "read", with_token({{"hold", hold}}, token));
  }
  HistoryBuilder& value(int process, int value) { return add(EventType::ok, process, "read", {{"value", value}}); }
  HistoryBuilder& write(int process, int hold, int was, int now, int token = 0) {
    return add(EventType::invoke, process, "write", with_token({{"hold", hold}, {"was", was}, {"now", now}}, token));
  }
  HistoryBuilder& written(int process) { return add(EventType::ok, process, "write", nullptr); }
  HistoryBuilder& stale(int process, const char* f) { return add(EventType::fail, process, f, nullptr, "stale-token"); }
  HistoryBuilder& unknown(int process, const char* f) { return add(EventType::info, process, f, nullptr, "timeout"); }
  HistoryBuilder& note(int process, const char* f, const Value& value) {
    return add(EventType::info, process, f, value);
  }
  HistoryBuilder& exited(int process, int signal = 9) { return note(process, "exited", {{"signal", signal}}); }

  HistoryBuilder& fault_starts(int fault, const char* kind, const Value& target, bool effective = true) {
    return nemesis(kind, {{"fault", fault}, {"phase", "start"}, {"target", target}, {"effective", effective}});
  }
  HistoryBuilder& fault_ends(int fault, const char* kind, bool healed = true, bool effective = true) {
    return nemesis(kind, {{"fault", fault}, {"phase", "end"}, {"effective", effective}, {"healed", healed}});
  }

  // `count` quiet cycles of processes 1 and 2 by turns, from the present moment on, 10 ms each, with holds from
  // first_hold on: enough to count as exercised without faults when count is 10 or more.
  HistoryBuilder& quiet_cycles(int count, int first_hold) {
    const double began = std::chrono::duration<double, std::milli>(time_).count();
    for (int i = 0; i < count; ++i) {
      const int process = 1 + i % 2;
      at(began + 10 * i).acquire(process, first_hold + i).at(began + 10 * i + 1).granted(process);
      at(began + 10 * i + 5).release(process, first_hold + i).at(began + 10 * i + 6).released(process);
    }
    return at(began + 10 * count);
  }

  History build() { return History(std::move(events_)); }

 private:
  static Value with_token(Value value, int token) {
    if (token != 0) value["token"] = token;
    return value;
  }
  HistoryBuilder& nemesis(const char* kind, const Value& value) {
    Event event;
    event.f = kind;
    event.process = Process::nemesis;
    event.type = EventType::info;
    event.value = value;
    return push(std::move(event));
  }
  HistoryBuilder& add(EventType type, int process, const char* f, const Value& value, const Value& error = nullptr) {
    Event event;
    event.type = type;
    event.process = Process{process};
    event.f = f;
    event.key = key_;
    event.value = value;
    event.node = "c" + std::to_string(process);
    event.error = error;
    return push(std::move(event));
  }
  HistoryBuilder& push(Event event) {
    event.index = events_.size();
    event.time = time_;
    events_.push_back(std::move(event));
    return *this;
  }

  std::string key_;
  Time time_{};
  std::vector<Event> events_;
};

// The verdict of the checker of that name.
inline Verdict verdict_of(std::string_view name, HistoryBuilder& builder, bool faults = false) {
  const History history = builder.build();
  for (const auto& checker : lock_checkers({.faults = faults})) {
    if (checker->name() == name) return checker->check(history, {});
  }
  throw std::logic_error("no such checker");
}

}  // namespace holdfast::testing
