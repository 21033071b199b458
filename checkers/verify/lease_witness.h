// Re-checks the witness of a lease mutex, whose operations come with instants.
#pragma once

#include <optional>
#include <string>

#include "checkers/objects/decision.h"

namespace holdfast::verify {

// Linear. Membership and the order of each process are looked at elsewhere.
std::optional<std::string> refute_lease_instants(const objects::Promise& promise, objects::Operations operations,
                                                 const objects::Decision& decision);

}  // namespace holdfast::verify
