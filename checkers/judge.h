// Runs checkers over a history, safely: a checker that throws or runs out of its budget costs its own verdict, which
// becomes unknown with the reason, and nobody else's.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/checker.h"

namespace holdfast {

struct Judgement {
  std::string name;
  std::string title;
  Verdict verdict;
  double milliseconds = 0;
};

std::vector<Judgement> judge(const History& history, std::span<const std::unique_ptr<Checker>> checkers,
                             const Budget& budget = {});

// The verdict on the run. Invalid when any applicable property is; else unknown when a fault did not bite or did not
// heal, when mutual exclusion at the service or at the clients or linearizability is unknown, or when nothing was put
// to the test.
Validity overall(std::span<const Judgement> judgements);

}  // namespace holdfast
