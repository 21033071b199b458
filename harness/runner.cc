#include "harness/runner.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "harness/error.h"
#include "harness/exchange.h"
#include "harness/guarded_resource.h"
#include "harness/lane.h"
#include "harness/log.h"

namespace holdfast {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Time kOpenLimit = seconds(30);  // a client may be a virtual machine that takes its time
constexpr Time kRestartPause = milliseconds(20);
constexpr unsigned kStartTries = 5;
constexpr std::uint64_t kNotesPerSecond = 1000;  // more than that is a client gone wild
constexpr std::uint64_t kWakeup = ~std::uint64_t{0};

class Runner final : public Stage {
 public:
  explicit Runner(const RunPlan& plan);
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() override;

  void run();

  Cluster& cluster() override { return plan_.cluster; }
  Server& server() override { return plan_.server; }
  [[nodiscard]] std::size_t lanes() const override { return lanes_.size(); }
  ClientProcess client(std::size_t lane) override;
  void set_paused(std::size_t lane, bool paused) override { exchange_.set_paused(lane, paused); }
  bool wait_for_new_client(std::size_t lane, Process old, milliseconds limit) override {
    return exchange_.wait_for_new_client(lane, old, limit);
  }

 private:
  void open_all_clients();
  void run_main_phase();
  void run_final_phase();
  void finish_nemesis();
  void serve_until(const std::function<bool()>& done);
  void turn(Time longest);
  [[nodiscard]] Time next_due(Time now, Time longest) const;

  void start_client(Lane& lane);
  void client_started(Lane& lane);
  void lose_client(Lane& lane, const std::string& why);
  void drop_client(Lane& lane);
  void read_from(Lane& lane);
  bool handle(Lane& lane, const Message& message);
  bool handle_reply(Lane& lane, const Reply& reply);
  bool handle_note(Lane& lane, const Note& note);
  void complete(Lane& lane, EventType type, Value value, Value error);
  void retire(Lane& lane);
  void publish(const Lane& lane, bool open);
  void check_deadline(Lane& lane, Time now);
  void dispatch(Lane& lane, Time now);
  void send_outboxes();

  [[nodiscard]] Moment moment(const Lane& lane, Time now) const {
    return {now, lane.number, lanes_.size(), lane.process};
  }
  void record(Lane& lane, Event& event);
  void take_outside_news();
  void report_status(Time now);
  void show(const Event& event) {
    if (plan_.on_event && plan_.on_event(event)) ended_ = true;
  }
  [[nodiscard]] bool interrupted() const {
    return ended_ || (plan_.interrupted != nullptr && plan_.interrupted->load());
  }

  const RunPlan& plan_;
  std::vector<Lane> lanes_;
  std::optional<GuardedResource> resource_;
  Generator* generator_ = nullptr;  // of the current phase; null: nobody is asked
  int epoll_;
  bool ended_ = false;  // on_event asked for it
  RunStatus status_;
  Time status_due_{};
  std::string last_start_error_;

  Exchange exchange_;
  std::vector<std::jthread> starters_;  // one per lane; assigning a new one joins the old
};

Runner::Runner(const RunPlan& plan)
    : plan_(plan),
      lanes_(plan.concurrency),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      exchange_(plan.concurrency),
      starters_(plan.concurrency) {
  if (epoll_ < 0) throw system_error("epoll");
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u64 = kWakeup;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, exchange_.descriptor(), &interest);
  const auto nodes = plan.cluster.clients();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].number = i;
    lanes_[i].process = Process{static_cast<std::int64_t>(i)};
    lanes_[i].node = nodes[i % nodes.size()];
  }
}

Runner::~Runner() {
  starters_.clear();  // joins: a starter uses the exchange
  for (Lane& lane : lanes_) lane.client.reset();
  ::close(epoll_);
}

// ---- what other threads may ask

ClientProcess Runner::client(std::size_t lane) {
  Exchange::Seat seat = exchange_.seat(lane);
  return {std::move(seat.client), seat.process, lane, lanes_.at(lane).node};
}

void Runner::take_outside_news() {
  Exchange::News news = exchange_.take();
  for (const auto& [number, paused] : news.pauses) {
    Lane& lane = lanes_[number];
    if (lane.paused && !paused && lane.state == Lane::State::busy) {
      lane.due = plan_.recorder.now() + plan_.operation_limit;  // a full allowance from the moment it can work again
    }
    lane.paused = paused;
  }
  for (const std::size_t number : news.released) {
    Lane& lane = lanes_[number];
    lane.held = false;
    if (lane.waits_at_step) {
      lane.outbox += fmt::format("{{\"continue\":{}}}\n", *lane.waits_at_step);
      lane.waits_at_step.reset();
    }
  }
  for (Exchange::Started& started : news.started) {
    Lane& lane = lanes_[started.lane];
    if (started.client == nullptr) {
      lose_client(lane, started.error);
      continue;
    }
    lane.client = std::move(started.client);
    client_started(lane);
  }
}

// ---- clients come and go

void Runner::start_client(Lane& lane) {
  lane.state = Lane::State::starting;
  lane.reader = LineReader();
  lane.paused = false;
  Command command{plan_.client_command.empty() ? plan_.system.client : plan_.client_command, {}};
  for (std::string& word : command.argv) {
    constexpr std::string_view kPlace = "{programs}";
    if (const std::size_t at = word.find(kPlace); at != std::string::npos) {
      word.replace(at, kPlace.size(), lane.node->program_folder());
    }
  }
  // Starting a process on a far host takes its time; the other clients must not wait for it.
  starters_[lane.number] = std::jthread([this, number = lane.number, node = lane.node, command = std::move(command)] {
    Exchange::Started news{.lane = number};
    try {
      news.client = node->spawn(command, fmt::format("{}/client-{}.log", node->data_folder(), number));
    } catch (const Error& error) {
      news.error = error.what();
    }
    exchange_.started(std::move(news));
  });
}

void Runner::client_started(Lane& lane) {
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u64 = lane.number;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, lane.client->output(), &interest) != 0) throw system_error("epoll_ctl");
  Value servers = Value::array();
  for (const Node* node : plan_.cluster.servers()) servers.push_back(plan_.server.endpoint(*node));
  const Value greeting = {{"protocol", kProtocolVersion},
                          {"client", lane.node->name()},
                          {"process", number(lane.process)},
                          {"servers", servers},
                          {"resource", resource_ ? Value(resource_->address()) : Value()},
                          {"options", plan_.client_options.is_null() ? Value::object() : plan_.client_options}};
  lane.request = 0;
  lane.outbox = request_line(0, "open", {}, greeting, {});
  lane.state = Lane::State::opening;
  lane.due = plan_.recorder.now() + kOpenLimit;
  publish(lane, false);
}

void Runner::drop_client(Lane& lane) {
  if (!lane.connected()) return;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, lane.client->output(), nullptr);
  lane.outbox.clear();
  lane.waits_at_step.reset();
  const std::shared_ptr<NodeProcess> client = std::exchange(lane.client, nullptr);
  publish(lane, false);
  client->signal(SIGKILL);
  const std::optional<ExitStatus> status = client->wait(seconds(2));
  Event exited{.type = EventType::info, .process = lane.process, .f = "exited", .node = lane.node->name()};
  if (status) exited.value = status->signal != 0 ? Value{{"signal", status->signal}} : Value{{"exit", status->code}};
  record(lane, exited);
}

// The client is gone or useless. What it was doing has an unknown outcome.
void Runner::lose_client(Lane& lane, const std::string& why) {
  log(LogLevel::warning, lane.node->name(), fmt::format("client of process {}: {}", number(lane.process), why));
  const bool never_opened = lane.state == Lane::State::starting || lane.state == Lane::State::opening;
  if (lane.state == Lane::State::busy) {
    complete(lane, EventType::info, nullptr, why);
    return;  // which retires it
  }
  drop_client(lane);
  if (never_opened) {
    last_start_error_ = why;
    lane.state = ++lane.failures >= kStartTries ? Lane::State::given_up : Lane::State::absent;
    lane.due = plan_.recorder.now() + kRestartPause * (1U << lane.failures);
    return;
  }
  retire(lane);
}

void Runner::retire(Lane& lane) {
  drop_client(lane);
  lane.process = Process{number(lane.process) + static_cast<std::int64_t>(lanes_.size())};
  lane.state = Lane::State::absent;
  lane.due = plan_.recorder.now() + kRestartPause;
  lane.finished = false;
  publish(lane, false);
}

void Runner::publish(const Lane& lane, bool open) {
  exchange_.publish(lane.number, {.client = lane.client, .process = lane.process, .open = open});
}

// ---- what clients say

void Runner::read_from(Lane& lane) {
  const LineReader::Status status = lane.reader.fill(lane.client->output());
  while (lane.connected()) {
    const std::optional<std::string_view> line = lane.reader.next_line();
    if (!line) break;
    if (!handle(lane, parse_message(*line))) return;
  }
  if (!lane.connected() || status == LineReader::Status::open) return;
  if (status == LineReader::Status::too_long) {
    lose_client(lane, "client printed a line of more than 1 MiB");
    return;
  }
  const std::optional<ExitStatus> exit = lane.client->wait(seconds(1));
  lose_client(lane, exit ? "client ended: " + to_string(*exit) : "client closed its standard output");
}

// False: the client is gone.
bool Runner::handle(Lane& lane, const Message& message) {
  if (const auto* reply = std::get_if<Reply>(&message)) return handle_reply(lane, *reply);
  if (const auto* note = std::get_if<Note>(&message)) return handle_note(lane, *note);
  lose_client(lane, "client printed garbage: " + std::get<Garbage>(message).why);
  return false;
}

bool Runner::handle_reply(Lane& lane, const Reply& reply) {
  if (reply.id != lane.request || (lane.state != Lane::State::opening && lane.state != Lane::State::busy)) {
    lose_client(lane, fmt::format("client answered request {}, which is not open", reply.id));
    return false;
  }
  if (lane.state == Lane::State::busy) {
    complete(lane, reply.type, reply.value, reply.error);
    return reply.type != EventType::info;
  }
  if (reply.type != EventType::ok) {
    lose_client(lane, fmt::format("client could not open: {}", reply.error.dump()));
    return false;
  }
  lane.state = Lane::State::idle;
  publish(lane, true);
  lane.failures = 0;
  lane.due = Time{};
  return true;
}

bool Runner::handle_note(Lane& lane, const Note& note) {
  const Time now = plan_.recorder.now();
  if (now - lane.notes_since > seconds(1)) {
    lane.notes_since = now;
    lane.notes = 0;
  }
  if (++lane.notes > kNotesPerSecond) {
    lose_client(lane, fmt::format("client floods: more than {} notes in a second", kNotesPerSecond));
    return false;
  }
  if (!is_note(note.event) || note.event == "exited") {
    log(LogLevel::warning, lane.node->name(), "client sent an event of unknown kind: " + note.event);
    return true;
  }
  Event event{.type = EventType::info,
              .process = lane.process,
              .f = note.event,
              .key = note.key,
              .value = note.value,
              .node = lane.node->name()};
  const bool step = note.event == "step";
  if (step) {
    if (lane.state != Lane::State::busy) {
      lose_client(lane, "client announced a step outside of any operation");
      return false;
    }
    if (!event.value.is_object()) event.value = Value::object();
    event.value["step"] = note.step;
    lane.waits_at_step = lane.request;
  }
  record(lane, event);
  if (step && !lane.held) {
    lane.outbox += fmt::format("{{\"continue\":{}}}\n", lane.request);
    lane.waits_at_step.reset();
  }
  return true;
}

void Runner::record(Lane& lane, Event& event) {
  plan_.recorder.append(event);
  show(event);
  if (generator_ != nullptr) generator_->observe(moment(lane, event.time), event);
  if (plan_.nemesis != nullptr && plan_.nemesis->observe(lane.number, event)) lane.held = true;
}

void Runner::complete(Lane& lane, EventType type, Value value, Value error) {
  lane.state = Lane::State::idle;
  lane.due = Time{};
  Event event{.type = type,
              .process = lane.process,
              .f = std::move(lane.operation.f),
              .key = std::move(lane.operation.key),
              .value = std::move(value),
              .node = lane.node->name(),
              .error = std::move(error)};
  (type == EventType::ok ? status_.ok : type == EventType::fail ? status_.fail : status_.info)++;
  record(lane, event);
  if (type == EventType::info) retire(lane);
}

// ---- the loop

void Runner::check_deadline(Lane& lane, Time now) {
  if (now < lane.due) return;
  if (lane.state == Lane::State::absent) {
    start_client(lane);
  } else if (lane.state == Lane::State::opening) {
    lose_client(lane, "client did not answer `open` in time");
  } else if (lane.state == Lane::State::busy && !lane.paused && !lane.held) {
    lose_client(lane, fmt::format("no answer within {} ms",
                                  std::chrono::duration_cast<milliseconds>(plan_.operation_limit).count()));
  }
}

void Runner::dispatch(Lane& lane, Time now) {
  if (generator_ == nullptr || lane.state != Lane::State::idle || lane.held || lane.finished) return;
  Next next = generator_->next(moment(lane, now));
  if (next.kind == Next::Kind::done) {
    lane.finished = true;
    return;
  }
  if (next.kind == Next::Kind::wait) {
    lane.due = next.until;
    return;
  }
  lane.operation = std::move(next.operation);
  Event invoke{.type = EventType::invoke,
               .process = lane.process,
               .f = lane.operation.f,
               .key = lane.operation.key,
               .value = lane.operation.value,
               .node = lane.node->name()};
  plan_.recorder.append(invoke);
  show(invoke);
  generator_->observe(moment(lane, invoke.time), invoke);
  std::vector<std::string> stop_at;
  if (plan_.nemesis != nullptr) stop_at = plan_.nemesis->steps_to_stop_at(lane.operation.f);
  lane.outbox += request_line(++lane.request, lane.operation.f, lane.operation.key, lane.operation.value, stop_at);
  lane.state = Lane::State::busy;
  lane.due = invoke.time + plan_.operation_limit;
}

void Runner::send_outboxes() {
  for (Lane& lane : lanes_) {
    if (lane.outbox.empty() || !lane.connected()) continue;
    const ssize_t count = ::write(lane.client->input(), lane.outbox.data(), lane.outbox.size());
    const bool sent = count == static_cast<ssize_t>(lane.outbox.size()) || (count < 0 && errno == EPIPE);
    lane.outbox.clear();
    // One request at a time fits into any pipe: a client that leaves it full is broken. One that is gone says so on
    // its output, which is read next.
    if (!sent) lose_client(lane, "client does not read its standard input");
  }
}

Time Runner::next_due(Time now, Time longest) const {
  Time due = now + longest;
  for (const Lane& lane : lanes_) {
    const bool asks = lane.state == Lane::State::idle && !lane.finished && !lane.held && generator_ != nullptr;
    const bool ends = lane.state == Lane::State::busy && !lane.paused && !lane.held;
    if (asks || ends || lane.state == Lane::State::absent || lane.state == Lane::State::opening) {
      due = std::min(due, lane.due);
    }
  }
  return due;
}

void Runner::turn(Time longest) {
  std::array<epoll_event, 128> ready{};
  const Time before = plan_.recorder.now();
  const Time wait = std::max(Time{}, next_due(before, longest) - before);
  const timespec limit{std::chrono::duration_cast<seconds>(wait).count(), (wait % seconds(1)).count()};
  const int count = ::epoll_pwait2(epoll_, ready.data(), static_cast<int>(ready.size()), &limit, nullptr);
  if (count < 0 && errno != EINTR) throw system_error("epoll_wait");
  for (int i = 0; i < count; ++i) {
    const std::uint64_t who = ready.at(static_cast<std::size_t>(i)).data.u64;
    if (who == kWakeup) {
      take_outside_news();
    } else if (lanes_[who].connected()) {
      read_from(lanes_[who]);
    }
  }
  const Time now = plan_.recorder.now();
  for (Lane& lane : lanes_) check_deadline(lane, now);
  for (Lane& lane : lanes_) dispatch(lane, now);
  plan_.recorder.flush();  // before anything that was decided in this turn leaves the controller
  send_outboxes();
  report_status(now);
}

void Runner::report_status(Time now) {
  if (!plan_.on_status || now < status_due_) return;
  status_due_ = now + milliseconds(100);
  status_.now = now;
  plan_.on_status(status_);
}

void Runner::serve_until(const std::function<bool()>& done) {
  while (!done()) turn(milliseconds(100));
}

void Runner::open_all_clients() {
  status_.phase = "starting clients";
  const auto settled = [](const Lane& lane) {
    return lane.state == Lane::State::idle || lane.state == Lane::State::given_up;
  };
  serve_until([&] { return interrupted() || std::all_of(lanes_.begin(), lanes_.end(), settled); });
  const auto given_up =
      std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.state == Lane::State::given_up; });
  if (given_up != lanes_.end()) {
    throw Error(
        fmt::format("{}: the client does not start ({} tries): {}; see nodes/{}/client-{}.log in the run's folder",
                    given_up->node->name(), kStartTries, last_start_error_, given_up->node->name(), given_up->number));
  }
}

void Runner::run_main_phase() {
  status_.phase = "running";
  generator_ = plan_.workload.generator.get();
  if (plan_.nemesis != nullptr) {
    plan_.nemesis->start(*this, plan_.recorder, [this](std::size_t lane) { exchange_.release(lane); });
  }
  serve_until([this] {
    return interrupted() || std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.finished; });
  });
}

// Healing may need us (a killed client is healed when its successor has opened), so the loop goes on meanwhile, and
// so do the clients until they have come to the end of what they were doing.
void Runner::finish_nemesis() {
  status_.phase = "healing";
  if (interrupted()) generator_ = nullptr;
  std::atomic<bool> healed = plan_.nemesis == nullptr;
  std::exception_ptr failure;
  std::jthread finisher;
  if (plan_.nemesis != nullptr) {
    finisher = std::jthread([&] {
      try {
        plan_.nemesis->finish();
      } catch (const std::exception&) {
        failure = std::current_exception();
      }
      healed = true;
      exchange_.wake();
    });
  }
  const Time limit = plan_.recorder.now() + plan_.operation_limit + seconds(30);
  serve_until([&] {
    const bool quiet = std::all_of(lanes_.begin(), lanes_.end(), [this](const Lane& lane) {
      return lane.finished || lane.state == Lane::State::given_up || (interrupted() && lane.state != Lane::State::busy);
    });
    return (healed && quiet) || (healed && plan_.recorder.now() > limit);
  });
  if (finisher.joinable()) finisher.join();
  if (failure) std::rethrow_exception(failure);
}

void Runner::run_final_phase() {
  if (plan_.workload.final_generator == nullptr || interrupted()) return;
  status_.phase = "final reads";
  generator_ = plan_.workload.final_generator.get();
  for (Lane& lane : lanes_) lane.finished = false;
  const Time limit = plan_.recorder.now() + plan_.workload.final_limit + plan_.operation_limit;
  serve_until([&] {
    return interrupted() || plan_.recorder.now() > limit ||
           std::all_of(lanes_.begin(), lanes_.end(),
                       [](const Lane& lane) { return lane.finished || lane.state == Lane::State::given_up; });
  });
}

void Runner::run() {
  if (plan_.workload.needs_resource) resource_.emplace(plan_.cluster.resource());
  open_all_clients();
  run_main_phase();
  finish_nemesis();
  run_final_phase();
  plan_.recorder.flush();
}

}  // namespace

void run(const RunPlan& plan) {
  // What wakes us is always an answer that can wait a moment; the system under test should not be pushed aside for it.
  const sched_param usual{};
  ::sched_setscheduler(0, SCHED_BATCH, &usual);
  Runner(plan).run();
}

}  // namespace holdfast
