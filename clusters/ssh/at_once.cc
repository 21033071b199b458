#include "clusters/ssh/at_once.h"

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "harness/error.h"

namespace holdfast {

void do_at_once(std::span<const std::function<void()>> jobs) {
  struct Failure {
    std::string text;  // empty: it went well
    bool usage = false;
  };
  std::vector<Failure> failures(jobs.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(jobs.size());
    for (std::size_t index = 0; index < jobs.size(); ++index) {
      threads.emplace_back([&job = jobs[index], &failure = failures[index]] {
        try {
          job();
        } catch (const UsageError& error) {
          failure = {.text = error.what(), .usage = true};
        } catch (const std::exception& error) {
          failure = {.text = error.what(), .usage = false};
        }
      });
    }
  }
  std::string all;
  bool usage = true;
  std::set<std::string> said;  // what is wrong with the options is wrong with them for every node
  for (const Failure& failure : failures) {
    if (failure.text.empty() || !said.insert(failure.text).second) continue;
    if (!all.empty()) all += '\n';
    all += failure.text;
    usage = usage && failure.usage;
  }
  if (all.empty()) return;
  if (usage) throw UsageError(all);
  throw Error(all);
}

}  // namespace holdfast
