#include "nemesis/disk_target.h"

#include <cstring>

#include "harness/error.h"
#include "harness/log.h"

namespace holdfast {

namespace {

class DiskFault final : public Fault {
 public:
  explicit DiskFault(DiskStrike strike) : strike_(strike) {}

 private:
  void prepare(Cluster& cluster) override {
    for (Node* node : cluster.servers()) static_cast<void>(node->disk());
  }
  std::unique_ptr<ActiveFault> inject(Stage& stage, std::optional<std::size_t> /*lane*/, Rng& rng) override {
    const std::vector<Node*> primaries = stage.server().primaries(stage.cluster().servers());
    if (primaries.empty()) throw Error("there is no primary whose disk could fail");
    return strike_(DiskTarget(stage.server(), *primaries[rng.below(primaries.size())]));
  }
  DiskStrike strike_;
};

std::string outcome(int error) {
  return error == 0 ? "done" : std::strerror(error);
}

}  // namespace

Effect DiskTarget::back_in_service() const {
  if (!answers()) {
    kill_server();
    server_->start(*node_);
  }
  const int error = disk().try_to_write();
  return {error == 0, {{"write", outcome(error)}, {"answers", true}}};
}

Effect DiskTarget::write_fails_with(int error) const {
  const int found = disk().try_to_write();
  return {found == error, {{"write", outcome(found)}, {"answers", answers()}}};
}

std::unique_ptr<Fault> make_disk_fault(DiskStrike strike) {
  return std::make_unique<DiskFault>(strike);
}

void heal_quietly(ActiveFault& fault, const DiskTarget& target) noexcept {
  try {
    fault.heal();
  } catch (const Error& error) {
    log(LogLevel::error, target.node().name(), error.what());
  }
}

}  // namespace holdfast
