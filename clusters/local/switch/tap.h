// Tap: the switch's end of a node's cable, a TAP device in the node's network namespace whose descriptor stays here.
//
// Everything about the interface is set from here as well: its MAC, its addresses, and its neighbours, which are all
// known and permanent, so that no discovery traffic mixes with what a run sends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clusters/local/switch/frame.h"
#include "clusters/local/switch/route.h"

namespace holdfast {

struct Station {
  Mac mac{};
  std::string address;   // IPv4, in a /24
  std::string address6;  // IPv6, in a /64
};

class Tap {
 public:
  // `process` is one in the namespace, 0 for the caller's own. The calling thread is in there meanwhile. Throws Error
  // that names what is in the way.
  Tap(int process, const std::string& name, const Station& self, const std::vector<Station>& neighbours);
  Tap(const Tap&) = delete;
  Tap& operator=(const Tap&) = delete;
  ~Tap();  // the device goes with it

  [[nodiscard]] int descriptor() const { return descriptor_; }  // non-blocking: one frame per read and write
  [[nodiscard]] const Mac& mac() const { return mac_; }
  // Frames of the node that the kernel threw away because the switch did not fetch them in time.
  [[nodiscard]] std::uint64_t overrun();

 private:
  void configure(const std::string& name, const Station& self, const std::vector<Station>& neighbours);

  Mac mac_;
  int descriptor_ = -1;
  unsigned interface_ = 0;
  std::unique_ptr<Route> route_;
};

// Why no TAP device can be made here, with the fix; empty when one can.
[[nodiscard]] std::string tap_obstacle();

}  // namespace holdfast
