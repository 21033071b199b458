// LockChecker: what all checkers of lock properties share. It turns the history into holds, lets the property look for
// findings, and then asks whether the property was put to the test at all: vacuous is not valid.
//
// With faults, a property that no *effective* fault exposed is unknown; without, at least ten grants to at least two
// processes are wanted. What is broken stays broken, exercised or not.
#pragma once

#include <set>

#include "checkers/lock_history.h"
#include "checkers/registry.h"
#include "harness/fault.h"

namespace holdfast {

inline constexpr std::size_t kFindingLimit = 20;

struct Scene {
  const History& history;
  LockHistory locks;
  std::vector<FaultRecord> faults;
  std::set<std::string> client_nodes;

  // Does this fault, which had an effect, concern that client? Faults of servers, and of links between servers only,
  // concern everybody.
  [[nodiscard]] bool concerns(const FaultRecord& fault, const Hold& hold) const;
  // The faults that concerned the holder during that time; a kill also counts when it is what ended the hold.
  [[nodiscard]] std::vector<const FaultRecord*> faults_on(const Hold& hold, const Interval& during) const;
  // "process 3 was paused (fault 4)"
  [[nodiscard]] static std::string phrase(const FaultRecord& fault);
};

class LockChecker : public Checker {
 public:
  explicit LockChecker(const LockCheckOptions& options) : options_(options) {}
  [[nodiscard]] Verdict check(const History& history, const Budget& budget) const final;

 protected:
  // Sets applicable, findings, and how often faults exposed the property (exposures, exposure). May set unknown with a
  // reason. Findings beyond kFindingLimit are counted, not listed.
  virtual void examine(const Scene& scene, Verdict& verdict) const = 0;

  // For properties that a hold tests by itself: believed holds during which their holder was hit.
  static void count_believed_holds(const Scene& scene, Verdict& verdict);
  static void add(Verdict& verdict, Finding finding);

 private:
  LockCheckOptions options_;
};

}  // namespace holdfast
