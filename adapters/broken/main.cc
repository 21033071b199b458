// holdfast-broken-client --mode MODE [--after N]: a client that misbehaves on purpose. It answers ok like the no-op
// client for N operations (0 unless told), then does what its mode says. The controller must survive every one of them,
// and the conformance check must name it.
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/cpp/envelope.h"
#include "adapters/cpp/lines.h"

namespace {

constexpr int kBadArguments = 254;
constexpr const char* kUsage =
    "usage: holdfast-broken-client --mode "
    "die|hang|flood|garbage|long-line|bad-open|bad-version|exit-at-open|wrong-id|half-line [--after N]\n";

void print(std::string_view text) {
  if (!holdfast::write_all(STDOUT_FILENO, text)) std::_Exit(EXIT_SUCCESS);
}

std::string answer(std::uint64_t id) {
  return R"({"id":)" + std::to_string(id) + R"(,"type":"ok"})";
}

void answer_open(const std::string& mode, std::uint64_t id, std::string_view value) {
  if (mode == "exit-at-open") std::_Exit(EXIT_FAILURE);
  const std::string start = R"({"id":)" + std::to_string(id);
  const auto asked = nlohmann::json::parse(value, nullptr, false);
  const bool speaks = asked.is_object() && asked.value("protocol", 0) == 1;
  if (mode == "bad-open" || (!speaks && mode != "bad-version")) {
    print(start + R"(,"type":"fail","error":"refused"})" + "\n");
    return;
  }
  const std::string version = mode == "bad-version" ? "99" : "1";
  print(start + R"(,"type":"ok","value":{"protocol":)" + version + R"(,"name":"broken"}})" + "\n");
}

[[noreturn]] void flood() {
  std::string notes;
  while (notes.size() < 60000) notes.append(R"({"event":"renewed","key":"L1","value":{"hold":1}})").push_back('\n');
  while (true) print(notes);
}

void misbehave(const std::string& mode, std::uint64_t id) {
  if (mode == "die") {
    std::raise(SIGKILL);
  } else if (mode == "hang") {
    while (true) pause();  // the end of input does not wake it either
  } else if (mode == "flood") {
    flood();
  } else if (mode == "garbage") {
    print("Segmentation fault (core dumped) \x01\xff{]\n");
  } else if (mode == "long-line") {
    const std::string piece(std::size_t{64} << 10U, 'x');
    print(R"({"id":)" + std::to_string(id) + R"(,"type":"ok","value":")");
    for (std::size_t written = 0; written <= 2 * holdfast::kLineLimit; written += piece.size()) print(piece);
    print("\"}\n");
  } else if (mode == "wrong-id") {
    print(answer(id + 1) + "\n");
  } else if (mode == "half-line") {
    const std::string whole = answer(id);
    print(std::string_view(whole).substr(0, whole.size() / 2));
    std::_Exit(EXIT_SUCCESS);
  } else {
    print(answer(id) + "\n");
  }
}

int serve(const std::string& mode, std::uint64_t after) {
  holdfast::LineBuffer lines;
  std::uint64_t served = 0;
  while (lines.fill(STDIN_FILENO) > 0) {
    while (const auto line = lines.next()) {
      const auto request = holdfast::parse_envelope(*line);
      const std::uint64_t id = request.id.value_or(0);
      if (request.f == "open") {
        answer_open(mode, id, request.value);
      } else if (served++ < after) {
        print(answer(id) + "\n");
      } else {
        misbehave(mode, id);
      }
    }
  }
  return EXIT_SUCCESS;
}

bool known(std::string_view mode) {
  const std::string_view usage = kUsage;
  const std::size_t start = usage.find("die|");
  const std::string_view modes = usage.substr(start, usage.find(' ', start) - start);
  const std::string padded = "|" + std::string(modes) + "|";
  return !mode.empty() && padded.find("|" + std::string(mode) + "|") != std::string::npos;
}

}  // namespace

int main(int argc, char** argv) {
  std::string mode;
  std::uint64_t after = 0;
  bool good = argc % 2 == 1;
  for (int i = 1; good && i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    const std::string_view value = argv[i + 1];
    if (option == "--mode") {
      mode = value;
    } else {
      const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), after);
      good = option == "--after" && error == std::errc() && stop == value.data() + value.size();
    }
  }
  if (!good || !known(mode)) {
    std::fputs(kUsage, stderr);
    return kBadArguments;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return serve(mode, after);
  } catch (const holdfast::MalformedLine& error) {
    std::fprintf(stderr, "standard input: cannot read a request: %s\n", error.what());
    return 3;
  }
}
