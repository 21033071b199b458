// The checkers against locks whose truth is known: a lock service simulated in virtual time, with clients that are
// paused, killed and left without an answer. A correct lock must never be called broken, whatever happens to its
// clients; each of the classic mistakes must be found.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <queue>

#include "checkers/history_builder.h"
#include "checkers/judge.h"
#include "harness/rng.h"

namespace holdfast {
namespace {

using ::holdfast::testing::HistoryBuilder;

struct Design {
  bool leases = true;
  bool checks_owner = true;  // a release frees the lock only if it is the releaser's
  bool check_apart = false;  // ... but looks first and frees later, in two commands
  bool fenced = false;
  bool pauses = true;
  bool kills = true;
  bool lost_answers = true;
};

class Simulation {
 public:
  Simulation(const Design& design, std::uint64_t seed) : design_(design), rng_(seed) {
    for (int lane = 0; lane < kLanes; ++lane) {
      process_[lane] = lane;
      in(rng_.below(20), [this, lane] { attempt(lane); });
    }
  }

  History run() {
    while (!queue_.empty() && queue_.top().at <= kLimit) {
      const Step step = queue_.top();
      queue_.pop();
      now_ = step.at;
      builder_.at(static_cast<double>(now_));
      step.action();
    }
    return builder_.build();
  }

 private:
  static constexpr int kLanes = 4;
  static constexpr std::uint64_t kLease = 600;
  static constexpr std::uint64_t kLimit = 12'000;
  static constexpr std::uint64_t kLastFault = 5'000;

  struct Step {
    std::uint64_t at;
    std::uint64_t number;
    std::function<void()> action;
    bool operator<(const Step& other) const { return std::pair(at, number) > std::pair(other.at, other.number); }
  };

  void in(std::uint64_t delay, std::function<void()> action) {
    queue_.push({now_ + delay, next_number_++, std::move(action)});
  }
  // A request takes effect at the server after a while, and is answered after another.
  void request(const std::function<void()>& effect, const std::function<void()>& answer) {
    in(1 + rng_.below(4), [this, effect, answer] {
      effect();
      in(1 + rng_.below(4), answer);
    });
  }

  [[nodiscard]] bool taken() const { return holder_ != 0 && (!design_.leases || now_ < expires_); }

  void attempt(int lane) {
    if (now_ > kLimit - 500) return;
    const int process = process_[lane];
    const int hold = ++last_hold_;
    builder_.acquire(process, hold, design_.leases ? static_cast<int>(kLease) : 0);
    const auto answer_lost = lose_answer();
    request(
        [this, hold] {
          if (taken()) return;
          holder_ = hold;
          expires_ = now_ + kLease;
          tokens_[hold] = ++last_token_;
        },
        [this, lane, process, hold, answer_lost] {
          if (answer_lost) return give_up(lane, "acquire");
          if (!tokens_.contains(hold)) {
            builder_.refused(process);
            return in(15 + rng_.below(10), [this, lane] { attempt(lane); });
          }
          design_.fenced ? builder_.granted(process, tokens_[hold]) : builder_.granted(process);
          in(1, [this, lane, hold] { read(lane, hold); });
        });
  }

  void read(int lane, int hold) {
    const int process = process_[lane];
    if (strikes(0.03) && design_.kills) return kill(lane);
    if (strikes(0.1) && design_.pauses) return pause(lane, [this, lane, hold] { read(lane, hold); });
    const int token = design_.fenced ? tokens_[hold] : 0;
    builder_.read(process, hold, token);
    const auto seen = std::make_shared<std::optional<int>>();
    request([this, token, seen] { *seen = access(token, std::nullopt); },
            [this, lane, process, hold, token, seen] {
              if (!*seen) {
                builder_.stale(process, "read");
                return in(1, [this, lane, hold] { release(lane, hold); });
              }
              builder_.value(process, **seen);
              in(30 + rng_.below(60), [this, lane, hold, token, seen] { write(lane, hold, token, **seen); });
            });
  }

  void write(int lane, int hold, int token, int was) {
    const int process = process_[lane];
    if (strikes(0.1) && design_.pauses) {
      return pause(lane, [this, lane, hold, token, was] { write(lane, hold, token, was); });
    }
    const int now = ++last_value_;
    builder_.write(process, hold, was, now, token);
    const auto done = std::make_shared<bool>();
    request([this, token, now, done] { *done = access(token, now).has_value(); },
            [this, lane, process, hold, done] {
              *done ? builder_.written(process) : builder_.stale(process, "write");
              in(1, [this, lane, hold] { release(lane, hold); });
            });
  }

  std::optional<int> access(int token, std::optional<int> now) {
    if (token < mark_) return std::nullopt;
    mark_ = token;
    if (now) register_ = *now;
    return register_;
  }

  void release(int lane, int hold) {
    const int process = process_[lane];
    builder_.release(process, hold);
    if (!design_.check_apart) return free(lane, hold, design_.checks_owner);
    const auto mine = std::make_shared<bool>();
    request([this, hold, mine] { *mine = taken() && holder_ == hold; },
            [this, lane, process, hold, mine] {
              if (!*mine) return refuse_release(lane, process);
              if (strikes(0.2)) return pause(lane, [this, lane, hold] { free(lane, hold, false); });
              free(lane, hold, false);
            });
  }

  void free(int lane, int hold, bool check_owner) {
    const int process = process_[lane];
    const bool answer_lost = lose_answer();
    const auto freed = std::make_shared<bool>();
    request(
        [this, hold, check_owner, freed] {
          *freed = taken() && (!check_owner || holder_ == hold);
          if (*freed) holder_ = 0;
        },
        [this, lane, process, answer_lost, freed] {
          if (answer_lost) return give_up(lane, "release");
          if (!*freed) return refuse_release(lane, process);
          builder_.released(process);
          in(5 + rng_.below(20), [this, lane] { attempt(lane); });
        });
  }

  void refuse_release(int lane, int process) {
    builder_.not_held(process);
    in(5 + rng_.below(20), [this, lane] { attempt(lane); });
  }

  bool strikes(double probability) { return rng_.chance(probability) && now_ < kLastFault; }
  bool lose_answer() { return design_.lost_answers && strikes(0.02); }

  void pause(int lane, const std::function<void()>& go_on) {
    const int fault = ++last_fault_;
    builder_.fault_starts(fault, "pause", {{"process", process_[lane]}, {"lane", lane}});
    in(500 + rng_.below(700), [this, fault, go_on] {
      builder_.fault_ends(fault, "pause");
      in(1, go_on);
    });
  }

  void kill(int lane) {
    const int fault = ++last_fault_;
    builder_.exited(process_[lane]);
    builder_.fault_starts(fault, "kill", {{"process", process_[lane]}, {"lane", lane}});
    builder_.fault_ends(fault, "kill");
    process_[lane] += kLanes;
    in(50, [this, lane] { attempt(lane); });
  }

  // The outcome stays unknown; the client's process is ended and a new one takes its seat.
  void give_up(int lane, const char* f) {
    builder_.unknown(process_[lane], f).exited(process_[lane]);
    process_[lane] += kLanes;
    in(20, [this, lane] { attempt(lane); });
  }

  Design design_;
  Rng rng_;
  HistoryBuilder builder_;
  std::priority_queue<Step> queue_;
  std::uint64_t now_ = 0;
  std::uint64_t next_number_ = 0;
  std::map<int, int> process_;
  std::map<int, int> tokens_;
  int holder_ = 0;
  std::uint64_t expires_ = 0;
  int mark_ = 0;
  int register_ = 0;
  int last_hold_ = 0;
  int last_token_ = 0;
  int last_value_ = 0;
  int last_fault_ = 0;
};

// In how many of the runs each property was broken; the first sentence is kept for the message of a failed test.
struct Tally {
  std::map<std::string, int> broken;
  std::map<std::string, std::string> because;
  int valid = 0;
};

Tally tally(const Design& design, int runs) {
  Tally result;
  for (int seed = 0; seed < runs; ++seed) {
    const History history = Simulation(design, static_cast<std::uint64_t>(seed)).run();
    const std::vector<Judgement> judgements = judge(history, lock_checkers({}));
    for (const Judgement& judgement : judgements) {
      if (judgement.verdict.validity != Validity::invalid) continue;
      ++result.broken[judgement.name];
      result.because.try_emplace(judgement.name, judgement.verdict.findings.at(0).because);
    }
    result.valid += overall(judgements) == Validity::valid ? 1 : 0;
  }
  return result;
}

constexpr int kRuns = 20;

void expect_never(Tally& result, std::initializer_list<const char*> properties) {
  for (const char* property : properties) EXPECT_EQ(result.broken[property], 0) << result.because[property];
}

TEST(SimulatedLock, ACorrectLeaseLockIsSafeAtTheServiceAndUnsafeAtTheClients) {
  Tally result = tally({}, kRuns);
  expect_never(result, {"service", "ownership", "deadlock-freedom"});
  EXPECT_GT(result.broken["clients"], kRuns * 3 / 4);
  EXPECT_GT(result.broken["resource"], kRuns * 3 / 4);
}

TEST(SimulatedLock, FencingMakesItSafeAtTheResource) {
  Tally result = tally({.fenced = true}, kRuns);
  expect_never(result, {"service", "ownership", "deadlock-freedom", "resource", "token-order"});
  EXPECT_GT(result.broken["clients"], kRuns * 3 / 4);
}

TEST(SimulatedLock, FreeingWithoutLookingBreaksOwnership) {
  Tally result = tally({.checks_owner = false}, kRuns);
  EXPECT_GT(result.broken["ownership"], kRuns * 3 / 4);
  EXPECT_GT(result.broken["service"], kRuns * 3 / 4);
}

TEST(SimulatedLock, LookingFirstAndFreeingLaterBreaksItToo) {
  Tally result = tally({.check_apart = true, .kills = false, .lost_answers = false}, kRuns);
  EXPECT_GT(result.broken["ownership"], kRuns * 3 / 4);
}

TEST(SimulatedLock, WithoutLeasesADeadHolderIsADeadlockAndNothingElse) {
  Tally result = tally({.leases = false}, kRuns);
  expect_never(result, {"service", "clients", "ownership", "resource"});
  EXPECT_GT(result.broken["deadlock-freedom"], kRuns / 2);
}

TEST(SimulatedLock, WithoutFaultsEverythingHoldsInEveryDesign) {
  for (const bool leases : {false, true}) {
    for (const bool checks_owner : {false, true}) {
      Tally result = tally({.leases = leases,
                            .checks_owner = checks_owner,
                            .fenced = true,
                            .pauses = false,
                            .kills = false,
                            .lost_answers = false},
                           5);
      EXPECT_TRUE(result.broken.empty()) << result.because.begin()->second;
      EXPECT_EQ(result.valid, 5);
    }
  }
}

}  // namespace
}  // namespace holdfast
