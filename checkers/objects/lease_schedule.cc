#include "checkers/objects/lease_schedule.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

namespace holdfast::objects {

namespace {

constexpr Instant kBegin = std::numeric_limits<Instant>::min();
constexpr std::size_t kMostStates = 1U << 20U;
constexpr int kMostGaps = 10;

using Numbers = std::vector<std::uint32_t>;

// Jobs whose order is forced.
class Forced {
 public:
  Forced(const std::vector<Job>& jobs, std::span<const std::uint32_t> part, std::vector<Instant>& starts)
      : jobs_(jobs), starts_(starts) {
    for (const std::uint32_t number : part) {
      (jobs[number].shape == Job::Shape::point ? points_ : cores_).push_back(number);
    }
    std::ranges::sort(cores_, {}, [&](std::uint32_t i) { return std::pair(jobs[i].hi, jobs[i].lo); });
    std::ranges::sort(points_, {}, [&](std::uint32_t i) { return jobs[i].lo; });
    std::vector<Open> open;
    open.reserve(points_.size());
    for (std::uint32_t i = 0; i < points_.size(); ++i) open.emplace_back(jobs[points_[i]].hi, i);
    open_ = decltype(open_)(std::greater<>(), std::move(open));
    causes_.reserve(cores_.size());
  }

  // The numbers of jobs that cannot all be; none: all are placed.
  Numbers run() {
    for (std::uint32_t index = 0; index < cores_.size(); ++index) {
      if (!place(index)) return std::move(culprits_);
    }
    settle_points(kNever);
    return {};
  }

 private:
  using Open = std::pair<Instant, std::uint32_t>;  // latest instant and position of a point
  struct Cause {                                   // what kept the job from starting at its lo
    bool pushed = false;                           // the job before it
    std::uint32_t first_point = 0;                 // and these points, positions in raised_
    std::uint32_t last_point = 0;
  };

  // Points that can lie at or before `until` are placed as early as possible.
  void settle_points(Instant until) {
    for (; settled_ < points_.size() && jobs_[points_[settled_]].lo <= until; ++settled_) {
      starts_[points_[settled_]] = std::max(free_from_, jobs_[points_[settled_]].lo);
    }
  }

  bool place(std::uint32_t index) {
    const Job& job = jobs_[cores_[index]];
    const auto raised = static_cast<std::uint32_t>(raised_.size());
    causes_.push_back({.pushed = free_from_ > job.lo, .first_point = raised, .last_point = raised});
    Instant start = std::max(job.lo, free_from_);
    if (start > job.hi) return fail(index, kNone);
    for (;;) {
      settle_points(start);
      while (!open_.empty() && open_.top().second < settled_) open_.pop();
      if (open_.empty() || open_.top().first >= job.end(start)) break;
      const std::uint32_t point = open_.top().second;
      open_.pop();
      if (jobs_[points_[point]].lo > job.hi) return fail(index, point);
      start = jobs_[points_[point]].lo;
      raised_.push_back(point);
      causes_[index].last_point = static_cast<std::uint32_t>(raised_.size());
    }
    starts_[cores_[index]] = start;
    free_from_ = job.end(start);
    return true;
  }

  // The job, the point that it cannot make room for, and back from push to push what made it late; only two of them
  // where those collide wherever they are.
  bool fail(std::uint32_t index, std::uint32_t point) {
    const Job& job = jobs_[cores_[index]];
    if (point != kNone) culprits_.push_back(points_[point]);
    culprits_.push_back(cores_[index]);
    if (point != kNone && jobs_[points_[point]].hi < job.end(job.lo)) return false;
    if (point == kNone && jobs_[cores_[index - 1]].core_end() > job.hi) {
      culprits_.push_back(cores_[index - 1]);
      return false;
    }
    for (;; --index) {
      const Cause& cause = causes_[index];
      for (std::uint32_t i = cause.first_point; i < cause.last_point; ++i) culprits_.push_back(points_[raised_[i]]);
      // A point that lies inside the job wherever that starts needs no push from before to explain it.
      const Job& late = jobs_[cores_[index]];
      const bool by_points = cause.first_point < cause.last_point;
      if (by_points && jobs_[points_[raised_[cause.first_point]]].hi < late.end(late.lo)) return false;
      if (!cause.pushed) return false;
      culprits_.push_back(cores_[index - 1]);
    }
  }

  const std::vector<Job>& jobs_;
  std::vector<Instant>& starts_;
  Numbers cores_;
  Numbers points_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  std::uint32_t settled_ = 0;
  Instant free_from_ = kBegin;
  std::vector<Cause> causes_;
  Numbers raised_;
  Numbers culprits_;
};

// Jobs of which some are coreless.
class Open {
 public:
  Open(const std::vector<Job>& jobs, std::span<const std::uint32_t> part, std::vector<Instant>& starts,
       const Limits& limits)
      : jobs_(jobs), starts_(starts), limits_(limits) {
    for (const std::uint32_t number : part) {
      const Job& job = jobs[number];
      (job.shape == Job::Shape::point ? points_ : job.cored() ? cores_ : free_).push_back(number);
    }
    std::ranges::sort(cores_, {}, [&](std::uint32_t i) { return std::pair(jobs[i].hi, jobs[i].lo); });
    std::ranges::sort(free_, {}, [&](std::uint32_t i) { return jobs[i].lo; });
    std::ranges::sort(points_, {}, [&](std::uint32_t i) { return jobs[i].lo; });
  }

  Schedule::Result run() {
    states_.push_back({.free_from = kBegin});
    std::size_t layer = 0;
    for (std::size_t done = 0; done < cores_.size() + free_.size(); ++done) {
      const std::size_t end = states_.size();
      seen_.clear();
      for (std::size_t i = layer; i < end; ++i) {
        if (!expand(static_cast<std::uint32_t>(i))) return Schedule::Result::too_many;
        if (i % 1024 == 0 && limits_.reached()) return Schedule::Result::stopped;
      }
      if (states_.size() == end) return Schedule::Result::impossible;
      if (states_.size() > kMostStates) return Schedule::Result::too_many;
      layer = end;
    }
    write_starts(layer);
    return Schedule::Result::placed;
  }

 private:
  struct State {
    std::uint64_t mask = 0;  // coreless jobs done beyond the first `base`, which are all done
    std::uint32_t base = 0;
    std::uint32_t cores = 0;  // so many cored ones are done
    Instant free_from = 0;    // the earliest end of all this
    Instant start = 0;        // of the last one
    std::uint32_t job = kNone;
    std::uint32_t parent = kNone;
  };
  using Key = std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

  // The earliest start at or after `start` that leaves no point strictly inside. kNever: there is none.
  [[nodiscard]] Instant beside_points(const Job& job, Instant start) const {
    auto next = std::ranges::upper_bound(points_, start, {}, [&](std::uint32_t i) { return jobs_[i].lo; });
    for (; next != points_.end() && jobs_[*next].lo < job.end(start); ++next) {
      if (jobs_[*next].hi < job.end(start)) start = jobs_[*next].lo;
    }
    return start > job.hi ? kNever : start;
  }

  // False: too many coreless jobs overlap.
  bool expand(std::uint32_t number) {
    const State state = states_[number];
    std::vector<std::pair<std::uint32_t, Instant>> choices;  // position (coreless) or kNone (the next cored), start
    Instant bound = kNever;                                  // some job can be over by then
    const auto consider = [&](std::uint32_t position, const Job& job) {
      const Instant start = beside_points(job, std::max(job.lo, state.free_from));
      if (start == kNever) return false;
      choices.emplace_back(position, start);
      bound = std::min(bound, job.end(start));
      return true;
    };
    if (state.cores < cores_.size() && !consider(kNone, jobs_[cores_[state.cores]])) return true;
    for (std::uint32_t i = state.base; i < free_.size() && jobs_[free_[i]].lo < bound; ++i) {
      if (i - state.base >= 64) return false;
      const bool done = (state.mask >> (i - state.base) & 1U) != 0;
      if (!done && !consider(i, jobs_[free_[i]])) return true;  // it comes too late already
    }
    for (const auto& [position, start] : choices) {
      if (start < bound || choices.size() == 1) add(number, state, position, start);
    }
    // What lasts no time can be over at the very bound.
    if (std::ranges::none_of(choices, [&](const auto& choice) { return choice.second < bound; })) {
      for (const auto& [position, start] : choices) {
        if (choices.size() > 1) add(number, state, position, start);
      }
    }
    return true;
  }

  void add(std::uint32_t parent, State next, std::uint32_t position, Instant start) {
    next.parent = parent;
    next.start = start;
    next.job = position == kNone ? cores_[next.cores] : free_[position];
    next.free_from = jobs_[next.job].end(start);
    if (position == kNone) {
      ++next.cores;
    } else {
      next.mask |= std::uint64_t{1} << (position - next.base);
      while ((next.mask & 1U) != 0) {
        next.mask >>= 1U;
        ++next.base;
      }
    }
    const Key key{{next.cores, next.base}, next.mask};
    const auto [place, fresh] = seen_.try_emplace(key, static_cast<std::uint32_t>(states_.size()));
    if (fresh) {
      states_.push_back(next);
    } else if (next.free_from < states_[place->second].free_from) {
      states_[place->second] = next;
    }
  }

  void write_starts(std::size_t last) {
    Numbers order;
    for (auto i = static_cast<std::uint32_t>(last); states_[i].job != kNone; i = states_[i].parent) {
      starts_[states_[i].job] = states_[i].start;
      order.push_back(states_[i].job);
    }
    std::size_t settled = 0;
    Instant free_from = kBegin;
    const auto settle = [&](Instant until) {
      for (; settled < points_.size() && jobs_[points_[settled]].lo <= until; ++settled) {
        starts_[points_[settled]] = std::max(free_from, jobs_[points_[settled]].lo);
      }
    };
    for (auto job = order.rbegin(); job != order.rend(); ++job) {
      settle(starts_[*job]);
      free_from = jobs_[*job].end(starts_[*job]);
    }
    settle(kNever);
  }

  const std::vector<Job>& jobs_;
  std::vector<Instant>& starts_;
  const Limits& limits_;
  Numbers cores_;
  Numbers free_;
  Numbers points_;
  std::vector<State> states_;
  boost::unordered_flat_map<Key, std::uint32_t> seen_;
};

class Placement {
 public:
  Placement(const std::vector<Job>& jobs, const RefusalsOf& refusals, const Limits& limits)
      : jobs_(jobs), refusals_(refusals), limits_(limits) {
    schedule_.starts.resize(jobs.size());
  }

  Schedule run() {
    Numbers order(jobs_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t i) { return jobs_[i].lo; });
    for (std::size_t begin = 0; begin < order.size();) {
      Instant end = kBegin;
      std::size_t next = begin;
      for (; next < order.size() && (next == begin || jobs_[order[next]].lo < end); ++next) {
        const Job& job = jobs_[order[next]];
        end = std::max(end, job.end(job.hi));
        if (next % 65'536 == 0 && limits_.reached()) schedule_.result = Schedule::Result::stopped;
      }
      const std::span part(order.begin() + static_cast<std::ptrdiff_t>(begin), next - begin);
      const Schedule::Result result =
          schedule_.result == Schedule::Result::stopped ? schedule_.result : place(part, kMostGaps);
      if (result == Schedule::Result::impossible) {
        schedule_.result = result;
        return std::move(schedule_);
      }
      if (result != Schedule::Result::placed && schedule_.result == Schedule::Result::placed) {
        schedule_.from = jobs_[order[begin]].lo;
        schedule_.result = result;
      }
      if (result == Schedule::Result::stopped) break;
      begin = next;
    }
    return std::move(schedule_);
  }

 private:
  // A start in the gap that a refusal leaves is either too late or too early: both are tried.
  Schedule::Result place(std::span<const std::uint32_t> part, int gaps) {
    const Schedule::Result result = place_without_gaps(part);
    if (result != Schedule::Result::placed) return result;
    for (const std::uint32_t number : part) {
      if (!jobs_[number].start_has_gap) continue;
      const Instant start = schedule_.starts[number];
      for (const auto& [call, ret] : refusals_(jobs_[number])) {
        if (start >= call || jobs_[number].end(start) <= ret) continue;
        if (gaps == 0) return Schedule::Result::too_many;
        const Job whole = jobs_[number];
        Schedule::Result best = Schedule::Result::impossible;
        for (const bool later : {false, true}) {
          jobs_[number] = whole;
          Instant& bound = later ? jobs_[number].lo : jobs_[number].hi;
          bound = later ? call : ret - whole.length;
          if (jobs_[number].lo > jobs_[number].hi) continue;
          const Schedule::Result half = place(part, gaps - 1);
          if (half == Schedule::Result::placed) return half;
          if (half != Schedule::Result::impossible) best = half;
        }
        jobs_[number] = whole;
        schedule_.culprits.assign(part.begin(), part.end());
        return best;
      }
    }
    return result;
  }

  Schedule::Result place_without_gaps(std::span<const std::uint32_t> part) {
    const bool forced = std::ranges::none_of(part, [&](std::uint32_t number) {
      return jobs_[number].shape == Job::Shape::stretch && !jobs_[number].cored();
    });
    if (forced) {
      schedule_.culprits = Forced(jobs_, part, schedule_.starts).run();
      return schedule_.culprits.empty() ? Schedule::Result::placed : Schedule::Result::impossible;
    }
    const Schedule::Result result = Open(jobs_, part, schedule_.starts, limits_).run();
    if (result == Schedule::Result::impossible) schedule_.culprits.assign(part.begin(), part.end());
    return result;
  }

  std::vector<Job> jobs_;
  const RefusalsOf& refusals_;
  const Limits& limits_;
  Schedule schedule_;
};

}  // namespace

Schedule place_jobs(const std::vector<Job>& jobs, const RefusalsOf& refusals, const Limits& limits) {
  return Placement(jobs, refusals, limits).run();
}

}  // namespace holdfast::objects
