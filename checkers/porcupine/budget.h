// The time and the memory a check may take, shared by the searches that race. They look at it inside their loops.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <stop_token>

namespace holdfast::porcupine {

class Budget {
 public:
  Budget(std::stop_token stop, std::chrono::steady_clock::time_point deadline, std::size_t bytes)
      : stop_(std::move(stop)),
        deadline_(deadline),
        bytes_(bytes == 0 ? std::numeric_limits<std::size_t>::max() : bytes) {}

  [[nodiscard]] bool out_of_time() const {
    return stop_.stop_requested() || std::chrono::steady_clock::now() >= deadline_;
  }
  // May `more` bytes be taken in addition to everything reported?
  [[nodiscard]] bool affords(std::size_t more) const {
    const std::size_t used = used_.load(std::memory_order_relaxed);
    return used <= bytes_ && more <= bytes_ - used;
  }
  void report(std::size_t before, std::size_t now) {
    const std::size_t used = used_.fetch_add(now - before, std::memory_order_relaxed) + (now - before);
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  std::stop_token stop_;
  std::chrono::steady_clock::time_point deadline_;
  std::size_t bytes_;
  std::atomic<std::size_t> used_ = 0;
  std::atomic<std::size_t> peak_ = 0;
};

// One search's share of the memory. The destructor gives it back.
class Account {
 public:
  explicit Account(Budget& budget) : budget_(&budget) {}
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;
  ~Account() { set(0); }
  void set(std::size_t bytes) {
    budget_->report(bytes_, bytes);
    bytes_ = bytes;
  }
  [[nodiscard]] bool affords(std::size_t more) const { return budget_->affords(more); }
  [[nodiscard]] bool out_of_time() const { return budget_->out_of_time(); }

 private:
  Budget* budget_;
  std::size_t bytes_ = 0;
};

enum class Status { running, ok, illegal, out_of_time, out_of_memory };

}  // namespace holdfast::porcupine
