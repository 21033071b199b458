// Re-checks the certificate of a decision without trusting who made it: a witness by replaying it, a core by looking
// at its few operations again. Linear in the history. Shares nothing with the deciders but the form of the data.
#pragma once

#include <optional>
#include <string>

#include "checkers/objects/decision.h"

namespace holdfast::verify {

// Each answers nothing when the certificate proves what it claims, else one sentence that says where it fails.
std::optional<std::string> refute_witness(const objects::Promise& promise, objects::Operations operations,
                                          const objects::Decision& decision);
std::optional<std::string> refute_core(const objects::Promise& promise, objects::Operations operations,
                                       const objects::Decision& decision);
// Either of the two, by the decision's answer; an undecided decision claims nothing.
std::optional<std::string> refute(const objects::Promise& promise, objects::Operations operations,
                                  const objects::Decision& decision);

}  // namespace holdfast::verify
