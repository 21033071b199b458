// One cell of the table of bench/checkers/run per process, so that limits and peak memory are its own:
//
//   bench_checkers cell   generates a history, decides it and prints one line of JSON
//   bench_checkers budget the same under a budget of time and bytes, and how much of it was used
//   bench_checkers write  writes the history to a file for the peer (peer/main.go describes the format)
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "bench/checkers/generate.h"
#include "checkers/objects/decision.h"

namespace {

using holdfast::bench::Family;
using holdfast::bench::Generated;
using holdfast::bench::Recipe;
using holdfast::objects::Answer;
using holdfast::objects::Call;
using holdfast::objects::Decision;
using holdfast::objects::Limits;
using holdfast::objects::Operation;
using holdfast::objects::Promise;
using Clock = std::chrono::steady_clock;

constexpr double kMebi = 1024.0 * 1024.0;

struct Wanted {
  std::string family = "register";
  std::string engine = "decide";
  std::string violation = "no";
  std::string certificate = "yes";
  std::string file;
  Recipe recipe;
  double unknown_percent = 0;
  double violation_at = 0.9;
  double seconds = 0;
  double mebibytes = 0;
  unsigned threads = 0;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Not ru_maxrss: that one remembers what the process was before exec.
double peak_mebibytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024.0;
  }
  return 0;
}

double resident_mebibytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMebi;
}

Generated make(Wanted& wanted) {
  const auto family = holdfast::bench::family_named(wanted.family);
  if (!family) throw CLI::ValidationError("--family", "there is no family \"" + wanted.family + '"');
  wanted.recipe.family = *family;
  wanted.recipe.unknown = wanted.unknown_percent / 100;
  if (wanted.violation == "yes") {
    wanted.recipe.violation =
        static_cast<std::size_t>(static_cast<double>(wanted.recipe.operations) * wanted.violation_at);
  }
  return holdfast::bench::generate(wanted.recipe);
}

// Deciders take one object at a time: the operations of every key side by side, each in the order of the history.
// Answers where each begins, and the end.
std::vector<std::size_t> group_by_key(std::vector<Operation>& operations) {
  std::uint32_t last = 0;
  for (const Operation& each : operations) last = std::max(last, each.key);
  std::vector<std::size_t> begin(std::size_t{last} + 2);
  for (const Operation& each : operations) ++begin[std::size_t{each.key} + 1];
  for (std::size_t key = 1; key < begin.size(); ++key) begin[key] += begin[key - 1];
  std::vector<std::size_t> next = begin;
  std::vector<Operation> grouped(operations.size());
  for (const Operation& each : operations) grouped[next[each.key]++] = each;
  operations = std::move(grouped);
  return begin;
}

// The first violation ends it, as it does in the peer.
Decision run(const Promise& promise, std::vector<Operation>& operations, const Limits& limits, bool keys, bool search) {
  const auto one = [&](std::span<const Operation> of_key, const Limits& own) {
    return search ? holdfast::objects::search(promise, of_key, own) : holdfast::objects::decide(promise, of_key, own);
  };
  if (!keys) return one(operations, limits);
  const std::vector<std::size_t> begin = group_by_key(operations);

  // A thread costs more than deciding a few thousand operations.
  constexpr std::size_t kOperationsPerThread = 20'000;
  const unsigned cores = limits.threads > 0 ? limits.threads : std::max(1U, std::thread::hardware_concurrency());
  const auto workers =
      static_cast<unsigned>(std::min<std::size_t>(cores, 1 + operations.size() / kOperationsPerThread));
  Limits own = limits;
  own.threads = 1;
  own.bytes = limits.bytes / workers;
  std::stop_source enough;
  own.stop = enough.get_token();
  std::vector<Decision> results(workers);
  std::atomic<std::size_t> next{0};
  const auto work = [&](Decision& result) {
    for (std::size_t key = next++; key + 1 < begin.size() && !enough.stop_requested(); key = next++) {
      Decision decision =
          one(std::span<const Operation>(operations).subspan(begin[key], begin[key + 1] - begin[key]), own);
      const std::uint64_t searched = result.searched + decision.searched;
      if (decision.answer != Answer::linearizable) result = std::move(decision);
      result.searched = searched;
      if (result.answer == Answer::violation) enough.request_stop();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned worker = 1; worker < workers; ++worker) {
      threads.emplace_back([&work, &result = results[worker]] { work(result); });
    }
    work(results[0]);
  }
  Decision total;
  for (Decision& result : results) {
    const std::uint64_t searched = total.searched + result.searched;
    const bool worse = total.answer == Answer::linearizable || result.answer == Answer::violation;
    if (worse && result.answer != Answer::linearizable) total = std::move(result);
    total.searched = searched;
  }
  return total;
}

int run_cell(Wanted& wanted, bool budget) {
  const auto generation = Clock::now();
  Generated generated = make(wanted);
  const double generate_seconds = seconds_since(generation);
  const std::size_t operations = generated.operations.size();
  const double before = resident_mebibytes();

  Limits limits;
  limits.threads = wanted.threads;
  limits.witness = limits.minimal_core = wanted.certificate == "yes";
  limits.bytes = static_cast<std::size_t>(wanted.mebibytes * kMebi);
  const auto start = Clock::now();
  if (wanted.seconds > 0) {
    limits.deadline =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(wanted.seconds));
  }
  std::string answer = "out of memory";
  Decision decision;
  try {
    decision = run(generated.promise, generated.operations, limits, wanted.recipe.family == Family::kv,
                   wanted.engine == "search");
    answer = to_string(decision.answer);
  } catch (const std::bad_alloc&) {
    decision.because = "std::bad_alloc";
  }
  const double seconds = seconds_since(start);
  const double peak = peak_mebibytes();
  fmt::print(R"({{"family":"{}","engine":"{}","operations":{},"unknown":{},"answer":"{}","seconds":{:.6f},)"
             R"("peak_mib":{:.1f},"generate_seconds":{:.3f},"searched":{},"rule":"{}","core":{})",
             wanted.family, wanted.engine, operations, generated.unknown, answer, seconds, peak, generate_seconds,
             decision.searched, decision.rule, decision.core.size());
  if (budget) {
    fmt::print(R"(,"of_time":{:.3f},"of_memory":{:.3f},"proven_until":{},"of_history":{:.4f})",
               seconds / wanted.seconds, std::max(0.0, peak - before) / wanted.mebibytes,
               decision.proven_until.value_or(-1),
               static_cast<double>(decision.proven_until.value_or(0)) /
                   static_cast<double>(std::max<std::int64_t>(1, generated.operations.back().call)));
  }
  fmt::print("}}\n");
  return 0;
}

// The peer's own numbers, which do not move when calls are added.
std::uint8_t number_for_peer(Call call) {
  switch (call) {
    case Call::read:
      return 0;
    case Call::write:
      return 1;
    case Call::cas:
      return 2;
    case Call::insert:
      return 3;
    case Call::extract:
      return 4;
    case Call::acquire:
      return 5;
    case Call::release:
      return 6;
    default:
      throw std::runtime_error("the peer has no model for \"" + std::string(to_string(call)) + '"');
  }
}

int write_file(Wanted& wanted) {
  struct Header {
    char magic[8] = {'H', 'F', 'B', 'E', 'N', 'C', 'H', '1'};
    std::array<char, 16> family{};
    std::uint32_t permits = 0;
    std::uint32_t reentrancy = 0;
    std::uint64_t count = 0;
  } header;
  struct Record {
    std::int64_t call, ret, argument, result;
    std::uint32_t owner, key;
    std::uint8_t f, outcome;
    std::array<char, 6> nothing;
  };
  const Generated generated = make(wanted);
  const bool by_hold = generated.promise.identity == holdfast::objects::Identity::hold;
  wanted.family.copy(header.family.data(), header.family.size());
  header.permits = generated.promise.permits;
  header.reentrancy = generated.promise.reentrancy;
  header.count = generated.operations.size();
  std::ofstream file(wanted.file, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  for (const Operation& each : generated.operations) {
    const std::uint8_t outcome = each.ok() ? 0 : each.refused() ? 1 : 2;
    const Record record{each.call,
                        each.ret,
                        each.argument,
                        each.result,
                        by_hold ? each.hold : each.process,
                        each.key,
                        number_for_peer(each.f),
                        outcome,
                        {}};
    file.write(reinterpret_cast<const char*>(&record), sizeof record);
  }
  file.close();
  if (!file) throw std::runtime_error("cannot write " + wanted.file);
  return 0;
}

void add_recipe(CLI::App& command, Wanted& wanted) {
  command.add_option("--family", wanted.family, "register, register-few, cas-register, cas-refused, kv, mutex, …");
  command.add_option("--operations", wanted.recipe.operations);
  command.add_option("--clients", wanted.recipe.clients);
  command.add_option("--unknown", wanted.unknown_percent, "per cent of the operations");
  command.add_option("--violation", wanted.violation)->check(CLI::IsMember({"yes", "no"}));
  command.add_option("--at", wanted.violation_at, "where in the history the violation is, 0 … 1");
  command.add_option("--seed", wanted.recipe.seed);
}

void add_engine(CLI::App& command, Wanted& wanted, bool required) {
  command.add_option("--engine", wanted.engine)->check(CLI::IsMember({"decide", "search"}));
  command.add_option("--certificate", wanted.certificate, "collect the witness, minimise the core")
      ->check(CLI::IsMember({"yes", "no"}));
  command.add_option("--threads", wanted.threads);
  command.add_option("--seconds", wanted.seconds, "time the decision may take")->required(required);
  command.add_option("--mebibytes", wanted.mebibytes, "memory it may take beside the history")->required(required);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Histories of known verdict, and how long it takes to decide them");
  app.require_subcommand(1);
  Wanted wanted;
  CLI::App& cell = *app.add_subcommand("cell", "generate and decide");
  CLI::App& budget = *app.add_subcommand("budget", "… and say how much of the budget was used");
  CLI::App& write = *app.add_subcommand("write", "write the history for the peer");
  for (CLI::App* command : {&cell, &budget, &write}) add_recipe(*command, wanted);
  add_engine(cell, wanted, false);
  add_engine(budget, wanted, true);
  write.add_option("file", wanted.file)->required();
  try {
    app.parse(argc, argv);
    return write.parsed() ? write_file(wanted) : run_cell(wanted, budget.parsed());
  } catch (const CLI::Error& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
