// Links that are bad but not cut. Each takes a target of link_targets() or links by name, and parameters behind a
// slash.
#pragma once

#include <memory>
#include <string>

#include "harness/fault.h"

namespace holdfast {

std::unique_ptr<Fault> make_delay(const std::string& target);      // holder/100ms[~20ms][,uniform|normal|tail]
std::unique_ptr<Fault> make_loss(const std::string& target);       // holder/30%
std::unique_ptr<Fault> make_duplicate(const std::string& target);  // holder/30%
std::unique_ptr<Fault> make_reorder(const std::string& target);    // holder/25%[,10ms]
std::unique_ptr<Fault> make_corrupt(const std::string& target);    // holder/20%[,unseen]
std::unique_ptr<Fault> make_rate(const std::string& target);       // holder/64kbit
std::unique_ptr<Fault> make_reset(const std::string& target);      // holder

}  // namespace holdfast
