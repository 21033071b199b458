#include "checkers/resource.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

namespace holdfast {

namespace {

std::optional<std::int64_t> integer(const Value& object, const char* field) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(field);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

struct Access {
  const Operation* operation = nullptr;
  const Hold* hold = nullptr;  // null: of a hold that was never asked for, or refused
  bool write = false;
  std::optional<std::int64_t> token;
  std::optional<std::int64_t> was;
  std::optional<std::int64_t> now;    // written
  std::optional<std::int64_t> value;  // read

  [[nodiscard]] bool ok() const { return operation->ok(); }
  [[nodiscard]] Time inv() const { return operation->invoke->time; }
  [[nodiscard]] Time ret() const { return operation->unknown() ? kNever : operation->complete->time; }
  [[nodiscard]] std::string who() const {
    return hold != nullptr ? hold->describe() : fmt::format("process {}", number(operation->invoke->process));
  }
};

Access access_of(const Operation& operation, const Hold* hold) {
  Access access;
  access.operation = &operation;
  access.hold = hold;
  access.write = operation.invoke->f == "write";
  access.token = integer(operation.invoke->value, "token");
  if (access.write) {
    access.was = integer(operation.invoke->value, "was");
    access.now = integer(operation.invoke->value, "now");
  } else if (operation.ok()) {
    access.value = integer(operation.complete->value, "value");
  }
  return access;
}

void append_events(Finding& finding, const Operation& operation) {
  finding.events.push_back(operation.invoke->index);
  if (operation.complete != nullptr) finding.events.push_back(operation.complete->index);
}

Finding finding_of(const char* kind, std::string because, std::initializer_list<const Access*> accesses, Value detail) {
  Finding finding;
  finding.kind = kind;
  finding.because = std::move(because);
  finding.detail = std::move(detail);
  for (const Access* access : accesses) append_events(finding, *access->operation);
  return finding;
}

// One guarded resource: its accesses by invocation.
class Register {
 public:
  using Report = std::function<void(Finding)>;

  Register(const std::string& name, const LockKey& key, Report report) : name_(name), report_(std::move(report)) {
    for (const Hold& hold : key.holds) {
      for (const Operation* operation : hold.accesses) accesses_.push_back(access_of(*operation, &hold));
    }
    for (const Operation* operation : key.strays) {
      if (operation->invoke->f != "release") accesses_.push_back(access_of(*operation, nullptr));
    }
    std::ranges::sort(accesses_, {}, [](const Access& access) { return access.operation->invoke->index; });
    for (const Access& access : accesses_) by_return_.push_back(&access);
    std::ranges::sort(by_return_, {}, &Access::ret);
    for (const Access& access : accesses_) {
      if (access.value) seen_.insert(*access.value);
      if (access.ok() && access.was) seen_.insert(*access.was);  // somebody read it, or could not write it as `was`
    }
  }

  [[nodiscard]] bool empty() const { return accesses_.empty(); }

  void check() const {
    lost_updates();
    stale_writes();
    tokens_in_order();
    rejections_have_a_cause();
    tokens_belong_to_their_holds();
    values_come_from_somewhere();
  }

 private:
  [[nodiscard]] bool taken(const Access& write) const {
    return write.ok() || (write.operation->unknown() && write.now && seen_.contains(*write.now));
  }

  void lost_updates() const {
    std::unordered_map<std::int64_t, const Access*> by_was;
    for (const Access& access : accesses_) {
      if (!access.write || !access.was || !taken(access)) continue;
      const auto [first, fresh] = by_was.try_emplace(*access.was, &access);
      if (fresh) continue;
      const Access& earlier = *first->second;
      report_(finding_of(
          "lost-update",
          fmt::format("{}: {} and {} both read {} and both wrote ({}, then {}): one of the two updates is lost", name_,
                      earlier.who(), access.who(), *access.was, earlier.now.value_or(0), access.now.value_or(0)),
          {&earlier, &access}, {{"key", name_}, {"was", *access.was}}));
    }
  }

  // Calls visit(access, best) for each access by invocation, with the best of the ok accesses that had returned before.
  template <typename Better, typename Visit>
  void sweep(const Better& better, const Visit& visit) const {
    const Access* best = nullptr;
    std::size_t next = 0;
    for (const Access& access : accesses_) {
      for (; next < by_return_.size() && by_return_[next]->ret() < access.inv(); ++next) {
        const Access* const candidate = by_return_[next];
        if (candidate->ok() && better(*candidate, best)) best = candidate;
      }
      if (best != nullptr) visit(access, *best);
    }
  }

  void stale_writes() const {
    const auto newer = [](const Access& access, const Access* best) {
      if (access.hold == nullptr || !access.hold->granted()) return false;
      return best == nullptr || access.hold->acquire->invoke->time >= best->hold->acquire->invoke->time;
    };
    sweep(newer, [&](const Access& write, const Access& newest) {
      if (!write.write || !write.ok() || write.hold == nullptr || !write.hold->granted()) return;
      if (newest.hold->acquire->invoke->time <= write.hold->acquire->complete->time) return;
      Finding finding = finding_of(
          "stale-write",
          fmt::format(
              "{}: the resource took a write of {} at {}, {} after {}, who was granted the lock later, had been there",
              name_, write.who(), seconds_text(write.ret()), milliseconds_text(write.inv() - newest.ret()),
              newest.who()),
          {&newest, &write}, {{"key", name_}, {"holds", {newest.hold->id, write.hold->id}}});
      append_events(finding, *newest.hold->acquire);
      append_events(finding, *write.hold->acquire);
      report_(std::move(finding));
    });
  }

  void tokens_in_order() const {
    const auto greater = [](const Access& access, const Access* best) {
      return access.token && (best == nullptr || *access.token > *best->token);
    };
    sweep(greater, [&](const Access& access, const Access& greatest) {
      if (!access.ok() || !access.token || *access.token >= *greatest.token) return;
      report_(finding_of(
          "token-accepted-out-of-order",
          fmt::format("{}: the resource took a {} of {} with token {} after it had taken token {} of {}", name_,
                      access.operation->invoke->f, access.who(), *access.token, *greatest.token, greatest.who()),
          {&greatest, &access}, {{"key", name_}, {"tokens", {*greatest.token, *access.token}}}));
    });
  }

  void rejections_have_a_cause() const {
    std::vector<const Access*> by_completion;  // the rejected ones
    for (const Access* access : by_return_) {
      if (access->token && has_error(*access->operation, "stale-token")) by_completion.push_back(access);
    }
    std::size_t next = 0;
    std::optional<std::int64_t> greatest;  // of what may have been taken, and was invoked before the rejection
    for (const Access* rejected : by_completion) {
      for (; next < accesses_.size() && accesses_[next].inv() <= rejected->ret(); ++next) {
        const Access& access = accesses_[next];
        if (!access.operation->failed() && access.token) greatest = std::max(greatest, access.token);
      }
      const std::int64_t token = rejected->token.value_or(0);  // it has one: that is how it was chosen
      if (greatest.value_or(token) > token) continue;
      report_(finding_of(
          "rejected-without-cause",
          fmt::format("{}: the resource turned {} with token {} away as stale, but no newer token had been there",
                      name_, rejected->who(), token),
          {rejected}, {{"key", name_}, {"token", token}}));
    }
  }

  void tokens_belong_to_their_holds() const {
    for (const Access& access : accesses_) {
      if (!access.ok() || !access.token || access.hold == nullptr || !access.hold->granted()) continue;
      if (access.hold->token == access.token) continue;
      Finding finding = finding_of("token-not-issued",
                                   fmt::format("{}: {} used token {} at the resource, which was not issued to it",
                                               name_, access.who(), *access.token),
                                   {&access}, {{"key", name_}, {"token", *access.token}});
      append_events(finding, *access.hold->acquire);
      report_(std::move(finding));
    }
  }

  void values_come_from_somewhere() const {
    std::unordered_map<std::int64_t, const Access*> writers;
    for (const Access& access : accesses_) {
      if (access.write && access.now) writers.try_emplace(*access.now, &access);
    }
    for (const Access& access : accesses_) {
      const std::optional<std::int64_t> value = access.write ? access.was : access.value;
      if (!access.ok() || !value || *value == 0) continue;
      const auto writer = writers.find(*value);
      const char* why = nullptr;
      if (writer == writers.end()) {
        why = "nobody ever wrote";
      } else if (writer->second->operation->failed()) {
        why = "the resource had turned away";
      } else if (writer->second->inv() > access.ret()) {
        why = "was written only later";
      }
      if (why == nullptr) continue;
      report_(finding_of("value-from-nowhere",
                         fmt::format("{}: {} {} the value {}, which {}", name_, access.who(),
                                     access.write ? "wrote from" : "read", *value, why),
                         {&access}, {{"key", name_}, {"value", *value}}));
    }
  }

  const std::string& name_;
  Report report_;
  std::vector<Access> accesses_;
  std::vector<const Access*> by_return_;
  std::unordered_set<std::int64_t> seen_;
};

}  // namespace

void ResourceChecker::examine(const Scene& scene, Verdict& verdict) const {
  verdict.applicable = false;
  for (const auto& [name, key] : scene.locks.keys) {
    const Register guarded(name, key, [&](Finding finding) { add(verdict, std::move(finding)); });
    if (guarded.empty()) continue;
    verdict.applicable = true;
    guarded.check();
  }
  count_believed_holds(scene, verdict);
}

}  // namespace holdfast
