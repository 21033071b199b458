#include "checkers/objects/mutex_witness.h"

#include <algorithm>

namespace holdfast::objects::locks {

namespace {

class Arrangement {
 public:
  Arrangement(Operations operations, const Holds& holds, const std::vector<Sighting>& sightings)
      : operations_(operations), holds_(holds), sightings_(sightings) {
    order_.reserve(operations.size());
  }

  Numbers run() {
    for (std::uint32_t core = 0; core < holds_.cores.size(); ++core) {
      add_free(holds_.cores[core].first_answer);
      add_core(core);
      free_since_ = holds_.cores[core].last_request;
    }
    add_free(kNever);
    return std::move(order_);
  }

 private:
  // A point lies at its first possible instant, which a core may have moved to that core's end.
  [[nodiscard]] Instant time_of_point() const { return std::max(holds_.points[point_].last_request, free_since_); }

  // Points and refused releases up to this time. At one instant they keep the order of their calls.
  void add_free(Instant end) {
    while (true) {
      const bool points = point_ < holds_.points.size() && time_of_point() <= end;
      const bool refusals = refusal_ < holds_.refusals.size() && time_of_refusal() <= end;
      if (!points && !refusals) return;
      if (points && (!refusals || std::pair(time_of_point(), holds_.points[point_].last) <
                                      std::pair(time_of_refusal(), holds_.refusals[refusal_]))) {
        collect(holds_.points[point_++]);
        order_.insert(order_.end(), hold_.begin(), hold_.end());
      } else {
        order_.push_back(holds_.refusals[refusal_++]);
      }
    }
  }

  [[nodiscard]] Instant time_of_refusal() const { return operations_[holds_.refusals[refusal_]].call; }

  void add_core(std::uint32_t number) {
    const Hold& core = holds_.cores[number];
    collect(core);
    for (const std::uint32_t operation : hold_) {
      const bool ends = operation == core.last && core.last_request != kNever;
      const Instant time =
          ends ? core.last_request : std::clamp(operations_[operation].call, core.first_answer, core.last_request);
      if (operation != core.first) add_within(number, time, ends ? kNone : operation);
      order_.push_back(operation);
    }
    if (core.last_request == kNever) add_within(number, kNever, kNone);
  }

  // Refusals and sightings within a core that come before its operation `next`, which takes effect at `time`.
  void add_within(std::uint32_t core, Instant time, std::uint32_t next) {
    while (true) {
      const bool refusals = refusal_ < holds_.refusals.size() && time_of_refusal() < time;
      const bool sightings =
          sighting_ < sightings_.size() && sightings_[sighting_].core == core &&
          std::pair(sightings_[sighting_].time, sightings_[sighting_].attempt) < std::pair(time, next);
      if (!refusals && !sightings) return;
      if (refusals && (!sightings || std::pair(time_of_refusal(), holds_.refusals[refusal_]) <
                                         std::pair(sightings_[sighting_].time, sightings_[sighting_].attempt))) {
        order_.push_back(holds_.refusals[refusal_++]);
      } else {
        order_.push_back(sightings_[sighting_++].attempt);
      }
    }
  }

  // The operations of a hold, first to last, into hold_.
  void collect(const Hold& hold) {
    hold_.clear();
    for (std::uint32_t each = hold.last; each != kNone; each = holds_.previous[each]) hold_.push_back(each);
    std::ranges::reverse(hold_);
  }

  Operations operations_;
  const Holds& holds_;
  const std::vector<Sighting>& sightings_;
  Numbers order_;
  Numbers hold_;
  Instant free_since_ = std::numeric_limits<Instant>::min();
  std::size_t point_ = 0;
  std::size_t refusal_ = 0;
  std::size_t sighting_ = 0;
};

}  // namespace

Numbers arrange(Operations operations, const Holds& holds, const std::vector<Sighting>& sightings) {
  return Arrangement(operations, holds, sightings).run();
}

}  // namespace holdfast::objects::locks
