#include "checkers/stats.h"

#include <algorithm>
#include <map>
#include <set>

namespace holdfast {

namespace {

struct Counts {
  std::map<std::string, std::uint64_t, std::less<>> by_type;
  std::vector<Time> latencies;  // of completed operations
};

double milliseconds(Time time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Value summary(Counts& counts) {
  Value value = Value::object();
  for (const auto& [type, count] : counts.by_type) value[type] = count;
  if (counts.latencies.empty()) return value;
  std::ranges::sort(counts.latencies);
  const std::size_t last = counts.latencies.size() - 1;
  value["p50_ms"] = milliseconds(counts.latencies[last / 2]);
  value["p99_ms"] = milliseconds(counts.latencies[last * 99 / 100]);
  value["max_ms"] = milliseconds(counts.latencies[last]);
  return value;
}

// How long those who wanted a lock waited for it, from their first attempt on, and how often others got it meanwhile.
class Waits {
 public:
  void see(const Event& event) {
    if (event.f != "acquire") return;
    Lock& lock = locks_[event.key];
    if (event.type == EventType::invoke) {
      lock.waiting.try_emplace(event.process, Waiting{event.time, lock.grants});
    } else if (event.type == EventType::ok) {
      const auto waiting = lock.waiting.find(event.process);
      if (waiting == lock.waiting.end()) return;
      lock.ended.latencies.push_back(event.time - waiting->second.since);
      lock.most_overtaken = std::max(lock.most_overtaken, lock.grants - waiting->second.grants);
      lock.waiting.erase(waiting);
      ++lock.grants;
    } else if (event.type == EventType::info) {
      lock.waiting.erase(event.process);
    }
  }
  // Its client is gone, and with it the wish.
  void exited(Process process) {
    for (auto& [name, lock] : locks_) lock.waiting.erase(process);
  }

  Value summary() {
    Value value = Value::object();
    for (auto& [name, lock] : locks_) {
      Value& one = value[name] = holdfast::summary(lock.ended);
      one["most_overtaken"] = lock.most_overtaken;
      std::uint64_t still = 0;
      for (const auto& [process, waiting] : lock.waiting) still = std::max(still, lock.grants - waiting.grants);
      one["waiting_at_the_end"] = lock.waiting.size();
      one["most_overtaken_at_the_end"] = still;
    }
    return value;
  }

 private:
  struct Waiting {
    Time since{};
    std::uint64_t grants = 0;  // that there had been
  };
  struct Lock {
    std::uint64_t grants = 0;
    std::uint64_t most_overtaken = 0;
    Counts ended;
    std::map<Process, Waiting> waiting;
  };
  std::map<std::string, Lock> locks_;
};

}  // namespace

Verdict StatsChecker::check(const History& history, const Budget& /*budget*/) const {
  std::map<std::string, Counts> by_f;
  std::map<std::string, std::uint64_t> grants;
  std::map<std::string, std::uint64_t> handovers;
  std::map<std::string, Process> last_holder;
  std::set<Process> processes;
  std::set<Process> retired;
  std::uint64_t infos = 0;
  for (const Operation& operation : history.operations()) {
    const Event& invoke = *operation.invoke;
    processes.insert(invoke.process);
    Counts& counts = by_f[invoke.f];
    ++counts.by_type[std::string(to_string(operation.unknown() ? EventType::info : operation.complete->type))];
    if (operation.unknown()) {
      ++infos;
      retired.insert(invoke.process);
      continue;
    }
    counts.latencies.push_back(operation.complete->time - invoke.time);
  }
  std::uint64_t exited = 0;
  Waits waits;
  for (const Event& event : history.events()) {
    waits.see(event);
    if (event.f == "exited") {
      ++exited;
      waits.exited(event.process);
    }
    if (event.f != "acquire" || event.type != EventType::ok) continue;
    ++grants[event.key];
    const auto [holder, first] = last_holder.try_emplace(event.key, event.process);
    if (!first && holder->second != event.process) ++handovers[event.key];
    holder->second = event.process;
  }
  Verdict verdict;
  verdict.applicable = false;  // numbers promise nothing, so they cannot make a run green
  Value operations = Value::object();
  for (auto& [f, counts] : by_f) operations[f] = summary(counts);
  verdict.detail = {{"operations", std::move(operations)},
                    {"grants", grants},
                    {"handovers", handovers},
                    {"waits", waits.summary()},
                    {"infos", infos},
                    {"processes", processes.size()},
                    {"retired", retired.size()},
                    {"exited", exited},
                    {"seconds", std::chrono::duration<double>(history.end()).count()},
                    {"with_faults", options_.faults}};
  return verdict;
}

}  // namespace holdfast
