// Network: what the nodes of a cluster hang together by, and the one shared place where links are made worse.
//
// A link is directed. What a fault wants of its links is a layer; layers lie on top of each other, so that a partition
// and a delay may be in place at the same time and each can be taken away alone. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace holdfast {

struct Link {
  std::string from;
  std::string to;
  auto operator<=>(const Link&) const = default;
};
using CutLink = Link;  // a link that drops everything

// What happens to the frames of a link. As it is made, nothing.
struct LinkPolicy {
  // How jitter is spread about the delay: evenly, as a bell (jitter is one standard deviation), or with a long tail
  // above it (jitter is the mean of what is added).
  enum class Spread : std::uint8_t { uniform, normal, tail };

  bool cut = false;
  bool reset = false;  // connections that were there before are reset when they next speak
  std::chrono::nanoseconds delay{};
  std::chrono::nanoseconds jitter{};  // frames keep their order all the same
  Spread spread = Spread::uniform;
  double loss = 0;       // chances per frame, 0 … 1
  double duplicate = 0;  // sent twice, one right behind the other
  double reorder = 0;    // held back by `reorder_by`, so that later ones overtake it
  std::chrono::nanoseconds reorder_by{};
  double corrupt = 0;                 // one byte of it is changed
  bool corrupt_unseen = false;        // and the checksum made right again, so that the receiver takes it
  std::uint64_t bits_per_second = 0;  // 0: as fast as it goes
  bool operator==(const LinkPolicy&) const = default;
};

// Both at once: delays add up, chances are independent, the narrower rate counts.
[[nodiscard]] LinkPolicy on_top(const LinkPolicy& lower, const LinkPolicy& upper);

struct LinkCounts {
  std::uint64_t seen = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t dropped = 0;  // because a fault said so
  std::uint64_t duplicated = 0;
  std::uint64_t delayed = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t resets = 0;  // connections told to end
  std::uint64_t lost = 0;    // for no fault's sake: a full queue, an interface that was down
  LinkCounts& operator+=(const LinkCounts& other);
  [[nodiscard]] LinkCounts since(const LinkCounts& before) const;
};

struct ShapedLink {
  Link link;
  LinkPolicy policy;
};

class Network {
 public:
  using Layer = std::uint64_t;

  virtual ~Network() = default;
  // All links of a layer change between two packets where the network can do that (local nodes), else host by host.
  Layer impose(std::vector<ShapedLink> links);
  void lift(Layer layer);  // quiet when it is gone already

  virtual void cut(std::span<const CutLink> links) = 0;  // replaces what was cut before; knows nothing of layers
  // Packets dropped on cut links since the cut was made: proof that a partition bit.
  [[nodiscard]] virtual std::uint64_t dropped() = 0;
  // Of all these links together.
  [[nodiscard]] virtual LinkCounts counts(std::span<const Link> links);
  // False: links can be cut and nothing else.
  [[nodiscard]] virtual bool can_shape() const { return false; }

 protected:
  // Exactly these links have a policy from now on. Unless overridden: cuts them, or throws when more is asked for.
  virtual void shape(std::span<const ShapedLink> links);

 private:
  void apply();

  std::mutex layers_mutex_;
  std::map<Layer, std::vector<ShapedLink>> layers_;
  Layer last_layer_ = 0;
};

}  // namespace holdfast
