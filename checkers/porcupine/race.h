// The two searches against each other on one object: in turns at first and where there is one thread, then side by
// side. Whoever is done first decides; a search that runs out of memory gives its memory back and the other goes on.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "checkers/porcupine/budget.h"
#include "checkers/porcupine/depth_first.h"
#include "checkers/porcupine/layered.h"
#include "checkers/porcupine/problem.h"

namespace holdfast::porcupine {

enum class Searches { both, depth_first, layered };

struct RaceOptions {
  unsigned threads = 1;
  bool want_paths = true;
  Searches searches = Searches::both;
};

struct RaceResult {
  Status status = Status::running;
  std::uint32_t proven = 0;  // place of the first event that is not proven possible
  std::vector<Trail> paths;
  std::uint64_t configurations = 0;
};

inline constexpr std::size_t kMostPartials = 16;
inline constexpr std::uint32_t kMostPending = 2048;

template <class Space, std::size_t W, class Facts>
class Race {
 public:
  Race(const Facts& facts, const Timeline& timeline, Budget& budget, const RaceOptions& options) : options_(options) {
    if (options.searches != Searches::depth_first) {
      layered_ = std::make_unique<Layered<Space, W>>(facts, timeline, budget, options.want_paths);
    }
    if (options.searches != Searches::layered) {
      depth_first_ = std::make_unique<DepthFirst<Space, W>>(facts, timeline, budget);
    }
  }

  RaceResult run() {
    constexpr std::uint64_t kSlice = 4096;
    constexpr std::uint64_t kTurns = 8;  // about a millisecond: a thread would cost as much
    for (std::uint64_t turn = 0; layered_ || depth_first_; ++turn) {
      if (turn >= kTurns && options_.threads > 1 && layered_ && depth_first_) {
        side_by_side();
        continue;
      }
      if (layered_ && settled(layered_, layered_->advance(kSlice))) break;
      if (depth_first_ && settled(depth_first_, depth_first_->advance(kSlice))) break;
    }
    return std::move(result_);
  }

 private:
  static bool decided(Status status) { return status == Status::ok || status == Status::illegal; }

  void side_by_side() {
    std::atomic<bool> over = false;
    const auto run = [&over](auto& search) {
      Status status = Status::running;
      while (status == Status::running && !over.load(std::memory_order_relaxed)) status = search.advance(1024);
      if (decided(status)) over.store(true, std::memory_order_relaxed);
      return status;
    };
    Status other = Status::running;
    {
      std::vector<std::jthread> threads;  // one; g++ 12 takes a plain one for uninitialised under the sanitizers
      threads.emplace_back([&] { other = run(*depth_first_); });
      const Status mine = run(*layered_);
      if (mine != Status::running) mine_ = mine;
    }
    // The one that names the event and has partial orders to show goes first.
    if (mine_ && settled(layered_, *mine_)) {
      depth_first_.reset();
      return;
    }
    if (other != Status::running && settled(depth_first_, other)) layered_.reset();
    mine_.reset();
  }

  // Takes over what a finished search found and frees it. True: decided.
  template <class Search>
  bool settled(std::unique_ptr<Search>& search, Status status) {
    if (status == Status::running || decided(result_.status)) return decided(result_.status);
    result_.status = status;
    result_.proven = std::max(result_.proven, search->proven());
    result_.configurations += search->configurations();
    if (decided(status) && options_.want_paths) result_.paths = paths_of(*search, status);
    search.reset();
    return decided(status);
  }
  static std::vector<Trail> paths_of(const DepthFirst<Space, W>& search, Status status) {
    if (status == Status::ok) return {search.path()};
    return {};
  }
  static std::vector<Trail> paths_of(const Layered<Space, W>& search, Status status) {
    return search.paths(status == Status::ok ? 1 : kMostPartials);
  }

  RaceOptions options_;
  std::unique_ptr<Layered<Space, W>> layered_;
  std::unique_ptr<DepthFirst<Space, W>> depth_first_;
  std::optional<Status> mine_;
  RaceResult result_;
};

// Chooses the width of the sets by how many operations are ever pending at once.
template <Model M>
RaceResult race(const Problem<M>& problem, Budget& budget, const RaceOptions& options) {
  const auto with = [&]<std::size_t W>() {
    using Space = typename Problem<M>::template Space<W>;
    return Race<Space, W, typename Problem<M>::Facts>(problem.facts(), problem.timeline(), budget, options).run();
  };
  const std::uint32_t slots = problem.timeline().slots();
  if (slots <= 64) return with.template operator()<1>();
  if (slots <= 128) return with.template operator()<2>();
  if (slots <= kMostPending) return with.template operator()<kMostPending / 64>();
  return {.status = Status::out_of_memory};
}

}  // namespace holdfast::porcupine
