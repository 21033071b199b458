// Problem: one object's history made ready for the searches: equal operations in classes, what cannot matter left out,
// values numbered. And back: what a search did, in the caller's numbers.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "checkers/porcupine/cell_space.h"
#include "checkers/porcupine/general_space.h"
#include "checkers/porcupine/model.h"
#include "checkers/porcupine/timeline.h"

namespace holdfast::porcupine {

template <Model M>
class Problem {
 public:
  using Facts = std::conditional_t<HasCell<M>, CellFacts, GeneralFacts<M>>;
  template <std::size_t W>
  using Space = typename std::conditional_t<HasCell<M>, std::type_identity<CellSpace<W>>,
                                            std::type_identity<GeneralSpace<M, W>>>::type;

  // `numbers`: which of the operations belong to this object.
  Problem(const M& model, std::span<const Operation<M>> operations, std::span<const std::uint32_t> numbers)
      : model_(&model), operations_(operations) {
    std::vector<Request> requests;
    requests.reserve(numbers.size());
    if constexpr (HasCell<M>) {
      read_cells(numbers, requests);
    } else {
      read_general(numbers, requests);
    }
  }

  [[nodiscard]] const Timeline& timeline() const { return *timeline_; }
  [[nodiscard]] const Facts& facts() const { return *facts_; }
  [[nodiscard]] std::size_t bytes() const { return timeline_->bytes() + facts_->bytes(); }
  // The instant of an event.
  [[nodiscard]] Instant instant(std::uint32_t place) const {
    const Operation<M>& operation = operations_[timeline_->op(timeline_->op_at(place)).original];
    return timeline_->is_return(place) ? operation.ret : operation.call;
  }

  // The caller's numbers. Of equal unknown operations those called first were used first.
  [[nodiscard]] std::vector<std::uint32_t> translate(const Trail& trail) const {
    boost::unordered_flat_map<std::uint32_t, std::vector<std::uint32_t>> of_class;  // last called first
    for (std::uint32_t i = timeline_->size(); timeline_->has_unknown() && i-- > 0;) {
      if (timeline_->counts(timeline_->op(i))) of_class[timeline_->op(i).cls].push_back(timeline_->op(i).original);
    }
    std::vector<std::uint32_t> result;
    result.reserve(trail.size());
    for (const std::uint32_t what : trail) {
      if ((what & kUnknownUse) == 0) {
        result.push_back(timeline_->op(what).original);
        continue;
      }
      std::vector<std::uint32_t>& rest = of_class[what & ~kUnknownUse];
      result.push_back(rest.back());
      rest.pop_back();
    }
    return result;
  }

 private:
  [[nodiscard]] static bool read_only(const M& model, const Operation<M>& operation) {
    if constexpr (HasReadOnly<M>) return model.read_only(operation.input, operation.known());
    return false;
  }
  [[nodiscard]] bool left_out(const Operation<M>& operation) const {
    if (operation.output) return false;
    if constexpr (HasDroppable<M>) {
      if (model_->droppable(operation.input)) return true;
    }
    return read_only(*model_, operation);
  }
  [[nodiscard]] bool sessions() const {
    if constexpr (HasSessions<M>) return model_->ordered_sessions();
    return false;
  }
  [[nodiscard]] Request request(std::uint32_t number, std::uint32_t cls) const {
    const Operation<M>& operation = operations_[number];
    const bool known = operation.output.has_value();
    return {operation.call, known ? operation.ret : kNever, operation.client, number, cls,
            known,          read_only(*model_, operation)};
  }

  void read_general(std::span<const std::uint32_t> numbers, std::vector<Request>& requests)
    requires(!HasCell<M>)
  {
    GeneralFacts<M> facts{.model = model_, .operations = operations_};
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> first;  // hash -> 1 + class
    std::vector<std::uint32_t> next;                                // of the same hash
    for (const std::uint32_t number : numbers) {
      const Operation<M>& operation = operations_[number];
      if (left_out(operation)) continue;
      auto cls = static_cast<std::uint32_t>(facts.example.size());
      if constexpr (HasClasses<M>) {
        std::uint32_t& head = first[model_->request_hash(operation.input, operation.known())];
        std::uint32_t each = head;
        while (each != 0 && !equal(operations_[facts.example[each - 1]], operation)) each = next[each - 1];
        if (each != 0) {
          cls = each - 1;
          facts.shared_classes = true;
        } else {
          next.push_back(head);
          head = cls + 1;
        }
      }
      if (cls == facts.example.size()) facts.example.push_back(number);
      requests.push_back(request(number, cls));
    }
    const auto classes = static_cast<std::uint32_t>(facts.example.size());
    timeline_ = std::make_unique<Timeline>(std::move(requests), classes, sessions());
    facts_ = std::make_unique<Facts>(std::move(facts));
  }
  static bool equal(const Operation<M>& a, const Operation<M>& b) { return a.input == b.input && a.output == b.output; }

  void read_cells(std::span<const std::uint32_t> numbers, std::vector<Request>& requests)
    requires(HasCell<M>)
  {
    boost::unordered_flat_map<std::int64_t, std::uint32_t> value_number;
    const bool refusals = number_values(numbers, value_number);
    const auto number_of = [&](const std::optional<std::int64_t>& value) {
      if (!value) return kNone;
      const auto found = value_number.find(*value);
      return found == value_number.end() ? 0 : found->second;
    };
    std::vector<CellClass> classes;
    boost::unordered_flat_map<std::uint64_t, std::vector<std::uint32_t>> same;
    for (const std::uint32_t number : numbers) {
      const Operation<M>& operation = operations_[number];
      if (left_out(operation)) continue;
      const Cell cell = model_->cell(operation.input, operation.known());
      const CellClass mine{number_of(cell.wants), number_of(cell.refuses), number_of(cell.leaves)};
      const bool known = operation.output.has_value();
      // Nobody refers to what an unknown operation leaves, or nobody could bring about what it wants.
      if (!known && (mine.leaves == kNone || (mine.leaves == 0 && !refusals) || mine.wants == 0)) continue;
      const std::uint64_t key = mix(mix(mix(mine.wants) ^ mine.refuses) ^ mine.leaves) ^ (known ? 1U : 0U);
      std::vector<std::uint32_t>& alike = same[key];
      std::uint32_t cls = kNone;
      for (const std::uint32_t each : alike) {
        const CellClass& other = classes[each >> 1U];
        if ((each & 1U) == (known ? 1U : 0U) && other.wants == mine.wants && other.refuses == mine.refuses &&
            other.leaves == mine.leaves) {
          cls = each >> 1U;
        }
      }
      if (cls == kNone) {
        cls = static_cast<std::uint32_t>(classes.size());
        classes.push_back(mine);
        alike.push_back((cls << 1U) | (known ? 1U : 0U));
      }
      requests.push_back(request(number, cls));
    }
    const auto count = static_cast<std::uint32_t>(classes.size());
    timeline_ = std::make_unique<Timeline>(std::move(requests), count, sessions());
    facts_ = std::make_unique<Facts>(std::move(classes), number_of(model_->cell_init()),
                                     static_cast<std::uint32_t>(value_number.size() + 1), *timeline_);
  }
  // Gives numbers from 1 on to the values that some operation refers to, directly or through an unknown operation that
  // could bring such a value about. All others are one and the same. Answers whether anything is refused.
  bool number_values(std::span<const std::uint32_t> numbers,
                     boost::unordered_flat_map<std::int64_t, std::uint32_t>& value_number) const
    requires(HasCell<M>)
  {
    const auto refer = [&](std::int64_t value) {
      return value_number.try_emplace(value, static_cast<std::uint32_t>(value_number.size() + 1)).second;
    };
    bool refusals = false;
    std::vector<Cell> conditional;
    for (const std::uint32_t number : numbers) {
      const Operation<M>& operation = operations_[number];
      const Cell cell = model_->cell(operation.input, operation.known());
      if (!operation.output) {
        if (cell.wants && cell.leaves) conditional.push_back(cell);
        continue;
      }
      if (cell.wants) refer(*cell.wants);
      if (cell.refuses) refer(*cell.refuses);
      refusals = refusals || cell.refuses;
    }
    for (bool more = true; more;) {
      more = false;
      for (const Cell& cell : conditional) {
        if (refusals || value_number.contains(*cell.leaves)) more = refer(*cell.wants) || more;
      }
    }
    return refusals;
  }

  const M* model_;
  std::span<const Operation<M>> operations_;
  std::unique_ptr<Timeline> timeline_;
  std::unique_ptr<Facts> facts_;
};

}  // namespace holdfast::porcupine
