// How fast recorded histories are read: events and megabytes per second for each format, on one core.
//   bench-readers [EVENTS]        1,000,000 when left out
// Aim: at least 1 million events per second in every plain format. The peer in the same run is reading the same bytes
// and counting their lines, the least that any reader of lines can do.
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "harness/formats/readers.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kProcesses = 10;

struct Step {
  std::size_t index;
  int process;
  bool invoke;
  int what;  // 0 … 2, the same for invocation and completion
  std::size_t round;
};

// Ten processes whose operations overlap: all invoke, then all complete.
Step step_of(std::size_t index) {
  const std::size_t round = index / (2 * kProcesses);
  const auto within = static_cast<int>(index % (2 * kProcesses));
  const int process = within % kProcesses;
  return {index, process, within < kProcesses, static_cast<int>((round + static_cast<std::size_t>(process)) % 3),
          round};
}

std::string lock_line(const Step& step) {
  static constexpr const char* kNames[] = {"acquire", "renew", "release"};
  const std::size_t hold = step.round / 3 * kProcesses + static_cast<std::size_t>(step.process);
  std::string value = "null";
  if (step.invoke) value = fmt::format(R"({{"hold":{},"lease_ms":2000}})", hold);
  if (!step.invoke && step.what == 0) value = fmt::format(R"({{"token":{}}})", hold);
  return fmt::format(
      R"({{"index":{},"type":"{}","process":{},"f":"{}","key":"L{}","value":{},"time":{},"node":"c{}"}})", step.index,
      step.invoke ? "invoke" : "ok", step.process, kNames[step.what], step.process % 4, value, step.index * 10'000,
      step.process % 5);
}

// The same with the fields in another order: the general parser has to read it.
std::string foreign_line(const Step& step) {
  return fmt::format(R"({{"process": {}, "type": "{}", "f": "write", "value": {}, "time": {}, "index": {}}})",
                     step.process, step.invoke ? "invoke" : "ok", step.round, step.index * 10'000, step.index);
}

std::string register_value(const Step& step) {
  if (step.what == 0) return step.invoke ? "nil" : fmt::format("{}", step.round % 5);
  if (step.what == 1) return fmt::format("{}", step.round % 5);
  return fmt::format("[{} {}]", step.round % 5, (step.round + 1) % 5);
}

constexpr const char* kRegister[] = {"read", "write", "cas"};

std::string edn_line(const Step& step) {
  return fmt::format("{{:process {}, :type {}, :f :{}, :value {}, :time {}, :index {}}}", step.process,
                     step.invoke ? ":invoke" : ":ok", kRegister[step.what], register_value(step), step.index * 10'000,
                     step.index);
}

std::string log_line(const Step& step) {
  return fmt::format("INFO  jepsen.util - {}\t{}\t:{}\t{}", step.process, step.invoke ? ":invoke" : ":ok",
                     kRegister[step.what], register_value(step));
}

std::string kv_line(const Step& step) {
  return fmt::format("{{:process {}, :type {}, :f :append, :key \"{}\", :value \"x {} {} y\"}}", step.process,
                     step.invoke ? ":invoke" : ":ok", step.what, step.process, step.round);
}

struct Row {
  const char* name;
  std::string (*line)(const Step&);
  bool packed;
};

std::uintmax_t write_history(const std::filesystem::path& file, const Row& row, std::size_t events) {
  std::uintmax_t bytes = 0;
  std::ofstream plain;
  gzFile packed = nullptr;
  if (row.packed) {
    packed = gzopen(file.c_str(), "wb");
  } else {
    plain.open(file, std::ios::binary | std::ios::trunc);
  }
  for (std::size_t index = 0; index < events; ++index) {
    const std::string line = row.line(step_of(index)) + "\n";
    bytes += line.size();
    if (row.packed) {
      gzwrite(packed, line.data(), static_cast<unsigned>(line.size()));
    } else {
      plain << line;
    }
  }
  if (row.packed) gzclose(packed);
  return bytes;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::size_t count_lines(const std::filesystem::path& file) {
  holdfast::formats::Window window(holdfast::formats::open_file(file));
  holdfast::formats::Window::Line line;
  std::size_t lines = 0;
  while (window.next_line(line)) ++lines;
  return lines;
}

void measure(const Row& row, std::size_t events) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("holdfast-bench-readers-{}", ::getpid());
  const auto bytes = static_cast<double>(write_history(file, row, events));
  std::vector<double> ours;
  std::vector<double> peer;
  for (int round = 0; round < 5; ++round) {
    auto start = Clock::now();
    const auto history = holdfast::formats::read_recorded(file);
    ours.push_back(seconds_since(start));
    start = Clock::now();
    const std::size_t lines = count_lines(file);
    peer.push_back(seconds_since(start));
    if (history.size() != events || (!row.packed && lines != events)) std::exit(255);
  }
  std::filesystem::remove(file);
  const double seconds = median(ours);
  const std::string ratio = row.packed ? "" : fmt::format("{:6.1f} ×", seconds / median(peer));
  fmt::print("  {:<26} {:8.3f} s  {:7.2f} M events/s  {:7.0f} MB/s  {}\n", row.name, seconds,
             static_cast<double>(events) / seconds / 1e6, bytes / seconds / 1e6, ratio);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  if (events == 0) {
    fmt::print(stderr, "bench-readers: \"{}\" is no number of events; write one from 1 on\n", argv[1]);
    return 254;
  }
  fmt::print("{} events, median of 5 (and × the time in which the lines can be counted)\n", events);
  const Row rows[] = {{"history.jsonl, locks", lock_line, false},
                      {"history.jsonl, foreign", foreign_line, false},
                      {"EDN, map per line", edn_line, false},
                      {"EDN, key-value", kv_line, false},
                      {"Jepsen log", log_line, false},
                      {"history.jsonl, locks, gz", lock_line, true},
                      {"EDN, map per line, gz", edn_line, true}};
  for (const Row& row : rows) measure(row, events);
  return 0;
}
