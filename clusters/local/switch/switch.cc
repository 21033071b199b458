#include "clusters/local/switch/switch.h"

#include <pthread.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "harness/error.h"

namespace holdfast {

namespace {

constexpr int kBurst = 64;  // frames of one port before another has its turn
constexpr std::uint64_t kBell = ~std::uint64_t{0};

SwitchTime now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// A frame must not wait for the scheduler when it can be helped. Without the right to it the switch works all the same,
// and its lateness shows.
void hurry() {
  ::prctl(PR_SET_TIMERSLACK, 1);
  const sched_param first{.sched_priority = 1};
  ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &first);
}

void watch(int poll, int descriptor, std::uint64_t name) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = name;
  if (::epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) != 0) throw system_error("watch a node's cable");
}

}  // namespace

Switch::Switch(std::vector<std::unique_ptr<Tap>> ports, std::uint64_t seed)
    : ports_(std::move(ports)), unplugged_(ports_.size(), false) {
  links_.reserve(ports_.size() * ports_.size());
  for (std::size_t from = 0; from < ports_.size(); ++from) {
    for (std::size_t to = 0; to < ports_.size(); ++to) links_.emplace_back(seed, from, to);
  }
  table_ = {.of_link = std::vector<std::uint16_t>(links_.size(), 0), .policies = {LinkPolicy{}}};
  poll_ = ::epoll_create1(EPOLL_CLOEXEC);
  bell_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (poll_ < 0 || bell_ < 0) throw system_error("make the switch");
  watch(poll_, bell_, kBell);
  for (std::size_t port = 0; port < ports_.size(); ++port) watch(poll_, ports_[port]->descriptor(), port);
  // Signals are the main thread's business.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::make_unique<std::thread>([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Switch::~Switch() {
  between_frames([this] { stopping_ = true; });
  thread_->join();
  ::close(bell_);
  ::close(poll_);
}

void Switch::between_frames(const std::function<void()>& task) {
  const std::lock_guard lock(control_);
  task_.store(&task, std::memory_order_release);
  const std::uint64_t one = 1;
  HOLDFAST_CHECK(::write(bell_, &one, sizeof one) == sizeof one, "the bell can always be rung");
  for (const auto* waiting = &task; waiting != nullptr; waiting = task_.load(std::memory_order_acquire)) {
    task_.wait(waiting, std::memory_order_acquire);
  }
}

void Switch::do_task() {
  const std::function<void()>* const task = task_.load(std::memory_order_acquire);
  if (task == nullptr) return;
  (*task)();
  task_.store(nullptr, std::memory_order_release);
  task_.notify_all();
}

void Switch::shape(std::span<const LinkShape> links) {
  // Made here, so that the switch itself has only to take it.
  Table table{.of_link = std::vector<std::uint16_t>(links_.size(), 0), .policies = {LinkPolicy{}}};
  bool resets = false;
  for (const LinkShape& shape : links) {
    const auto known = std::find(table.policies.begin(), table.policies.end(), shape.policy);
    table.of_link.at(shape.from * ports_.size() + shape.to) =
        static_cast<std::uint16_t>(known - table.policies.begin());
    if (known == table.policies.end()) table.policies.push_back(shape.policy);
    resets = resets || shape.policy.reset;
  }
  between_frames([&] {
    std::swap(table_, table);
    const auto is_free = [this](std::size_t link) { return table_.of_link[link] == 0; };
    on_their_way_.release(now(), is_free);
    for (std::size_t link = 0; link < links_.size(); ++link) {
      if (is_free(link)) links_[link].forget_backlog();
    }
    if (!resets) {
      begun_connections_.clear();
      reset_connections_.clear();
    }
  });
}

std::vector<LinkCounts> Switch::counts() {
  std::vector<LinkCounts> counts(links_.size());
  between_frames([&] {
    for (std::size_t link = 0; link < links_.size(); ++link) counts[link] = links_[link].counts;
  });
  return counts;
}

Lateness Switch::lateness() {
  Lateness copy;
  between_frames([&] { copy = lateness_; });
  return copy;
}

std::uint64_t Switch::overrun() {
  std::uint64_t sum = 0;
  for (const auto& port : ports_) sum += port->overrun();
  return sum;
}

void Switch::work() {
  hurry();
  std::vector<std::size_t> ready;
  ready.reserve(ports_.size());
  while (!stopping_) {
    wait_for_frames(ready);
    do_task();
    deliver_due();
    for (const std::size_t port : ready) read_port(port);
  }
}

void Switch::wait_for_frames(std::vector<std::size_t>& ready) {
  ready.clear();
  timespec limit{};
  if (!on_their_way_.empty()) {
    const SwitchTime left = std::max(SwitchTime{}, on_their_way_.next_due() - now());
    limit.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
    limit.tv_nsec = (left % std::chrono::seconds(1)).count();
  }
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_pwait2(poll_, events.data(), static_cast<int>(events.size()),
                                   on_their_way_.empty() ? nullptr : &limit, nullptr);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t name = events.at(static_cast<std::size_t>(i)).data.u64;
    if (name != kBell) {
      ready.push_back(name);
      continue;
    }
    std::uint64_t rings = 0;
    while (::read(bell_, &rings, sizeof rings) > 0) {
    }
  }
}

void Switch::read_port(std::size_t port) {
  std::array<std::uint8_t, kFrameLimit> buffer{};
  for (int i = 0; i < kBurst && !unplugged_[port]; ++i) {
    const ssize_t size = ::read(ports_[port]->descriptor(), buffer.data(), buffer.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size < 0) {  // the node is gone, and its interface with it
      unplugged_[port] = true;
      ::epoll_ctl(poll_, EPOLL_CTL_DEL, ports_[port]->descriptor(), nullptr);
      return;
    }
    if (static_cast<std::size_t>(size) >= kEthernetHeader) {
      take(port, std::span(buffer).first(static_cast<std::size_t>(size)));
    }
    do_task();
    deliver_due();
  }
}

void Switch::take(std::size_t from, std::span<std::uint8_t> frame) {
  const Mac mac = destination_of(frame);
  if (!is_group(mac)) {
    // The last byte of a MAC of ours is its port.
    const std::size_t to = mac.back();
    if (to < ports_.size() && to != from && ports_[to]->mac() == mac) forward(from, to, frame);
    return;
  }
  // What kernels say by themselves: nobody here listens to it, and it would be counted among the clients' packets.
  if (is_group_membership(frame) || is_discovery(frame)) return;
  for (std::size_t to = 0; to < ports_.size(); ++to) {
    if (to == from) continue;
    std::array<std::uint8_t, kFrameLimit> copy{};
    std::copy(frame.begin(), frame.end(), copy.begin());
    forward(from, to, std::span(copy).first(frame.size()));
  }
}

void Switch::forward(std::size_t from, std::size_t to, std::span<std::uint8_t> frame) {
  const std::size_t link = from * ports_.size() + to;
  LinkModel& model = links_[link];
  if (table_.of_link[link] == 0) {
    ++model.counts.seen;
    deliver(link, frame);
    return;
  }
  const LinkPolicy& policy = policy_of(link);
  const SwitchTime time = now();
  const Fate fate = model.decide(policy, time, frame.size());
  if (fate.dropped) return;
  if (policy.reset && reset_connection(from, to, frame)) {
    ++model.counts.dropped;
    return;
  }
  if (fate.corrupted && corrupt(frame, fate.noise, policy.corrupt_unseen)) ++model.counts.corrupted;
  for (int copy = fate.duplicated ? 2 : 1; copy > 0; --copy) {
    if (fate.due <= time) {
      deliver(link, frame);
    } else if (!on_their_way_.push(fate.due, link, frame)) {
      ++model.counts.lost;
    }
  }
}

// True: the frame belonged to a connection that was there before, and both ends were told that it is over.
bool Switch::reset_connection(std::size_t from, std::size_t to, FrameBytes frame) {
  const auto transport = transport_of(frame);
  if (!transport || !transport->tcp) return false;
  const TcpFlags flags = tcp_flags(frame, *transport);
  const std::uint64_t connection = connection_of(frame, *transport);
  if (flags.syn) begun_connections_.insert(connection);
  if (flags.syn || flags.rst || begun_connections_.contains(connection)) return false;
  const bool told = write_frame(to, make_reset(frame, *transport, ResetFor::receiver));
  const bool told_back = write_frame(from, make_reset(frame, *transport, ResetFor::sender));
  if (told && told_back && reset_connections_.insert(connection).second) {
    ++links_[from * ports_.size() + to].counts.resets;
  }
  return true;
}

bool Switch::write_frame(std::size_t port, FrameBytes frame) {
  return ::write(ports_[port]->descriptor(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

void Switch::deliver(std::size_t link, FrameBytes frame) {
  LinkCounts& counts = links_[link].counts;
  ++(write_frame(link % ports_.size(), frame) ? counts.forwarded : counts.lost);
}

void Switch::deliver_due() {
  while (!on_their_way_.empty()) {
    const SwitchTime time = now();
    if (on_their_way_.next_due() > time) return;
    DelayQueue::Entry entry = on_their_way_.pop();
    if (policy_of(entry.link).cut) {
      ++links_[entry.link].counts.dropped;
    } else {
      lateness_.add(time - entry.due);
      deliver(entry.link, entry.frame());
    }
    on_their_way_.give_back(std::move(entry));
  }
}

}  // namespace holdfast
