#include <stdexcept>

#include "checkers/objects/anonymous.h"
#include "checkers/objects/counter.h"
#include "checkers/objects/decision.h"
#include "checkers/objects/fair_mutex.h"
#include "checkers/objects/fenced_mutex.h"
#include "checkers/objects/lease_mutex.h"
#include "checkers/objects/multi_lock.h"
#include "checkers/objects/mutex.h"
#include "checkers/objects/priority_queue.h"
#include "checkers/objects/queue.h"
#include "checkers/objects/register.h"
#include "checkers/objects/rw_lock.h"
#include "checkers/objects/semaphore.h"
#include "checkers/objects/set.h"
#include "checkers/objects/stack.h"

namespace holdfast::objects {

Decision decide(const Promise& promise, Operations operations, const Limits& limits) {
  switch (promise.kind) {
    case Kind::register_:
      return decide_register(promise, operations, limits);
    case Kind::counter:
      return decide_counter(promise, operations, limits);
    case Kind::queue:
      return decide_queue(promise, operations, limits);
    case Kind::stack:
      return decide_stack(promise, operations, limits);
    case Kind::priority_queue:
      return decide_priority_queue(promise, operations, limits);
    case Kind::set:
      return decide_set(promise, operations, limits);
    case Kind::multi_register:
    case Kind::append_map:
      return search(promise, operations, limits);
    case Kind::mutex:
      return decide_mutex(promise, operations, limits);
    case Kind::anonymous_mutex:
      return decide_anonymous(promise, operations, limits);
    case Kind::lease_mutex:
      return decide_lease_mutex(promise, operations, limits);
    case Kind::rw_lock:
      return decide_rw_lock(promise, operations, limits);
    case Kind::semaphore:
      return decide_semaphore(promise, operations, limits);
    case Kind::multi_lock:
      return decide_multi_lock(promise, operations, limits);
    case Kind::fenced_mutex:
      return decide_fenced_mutex(promise, operations, limits);
    case Kind::fair_mutex:
      return decide_fair_mutex(promise, operations, limits);
  }
  throw std::invalid_argument("an object of no kind that is known");
}

}  // namespace holdfast::objects
