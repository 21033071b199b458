// For tests of faults: real servers and real client processes (cat), without a runner.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "clusters/local/cluster.h"
#include "clusters/systems/redis.h"
#include "harness/fault.h"

namespace holdfast {

class TestStage final : public Stage {
 public:
  // `prepare` sees the nodes before the servers are started.
  explicit TestStage(
      const LocalClusterOptions& options = {1, 2, HOLDFAST_PROGRAM_FOLDER},
      const std::function<void(Cluster&)>& prepare = [](Cluster&) {})
      : cluster_(options), server_(make_redis()) {
    prepare(cluster_);
    for (Node* node : cluster_.servers()) server_->start(*node);
    for (Node* node : cluster_.clients()) clients_.push_back(node->spawn({{"cat"}, {}}, "/data/cat.log"));
  }
  Cluster& cluster() override { return cluster_; }
  Server& server() override { return *server_; }
  [[nodiscard]] std::size_t lanes() const override { return clients_.size(); }
  ClientProcess client(std::size_t lane) override {
    return {clients_.at(lane), Process{static_cast<std::int64_t>(lane)}, lane, cluster_.clients()[lane]};
  }
  void set_paused(std::size_t /*lane*/, bool paused) override { paused_ = paused; }
  bool wait_for_new_client(std::size_t lane, Process /*old*/, std::chrono::milliseconds /*limit*/) override {
    clients_.at(lane) = cluster_.clients()[lane]->spawn({{"cat"}, {}}, "/data/cat.log");
    return true;
  }
  [[nodiscard]] bool client_reaches_server(std::size_t lane) {
    return cluster_.clients()[lane]
        ->run({{"redis-cli", "-h", cluster_.servers()[0]->address(), "ping"}, {}}, std::chrono::milliseconds(600))
        .ok();
  }
  // Lane 0 becomes this program.
  void use_client(const std::vector<std::string>& argv) {
    clients_.at(0) = cluster_.clients()[0]->spawn({argv, {}}, "/data/client.log");
  }
  // What the server on node `index` answers, without the final newline.
  [[nodiscard]] std::string redis(const std::string& words, std::size_t index = 0) {
    Node& node = *cluster_.servers()[index];
    std::string answer =
        node.must_run({{"sh", "-c", "redis-cli -h " + node.address() + " " + words}, {}}, std::chrono::seconds(10))
            .output;
    while (answer.ends_with('\n')) answer.pop_back();
    return answer;
  }
  bool paused_ = false;

 private:
  LocalCluster cluster_;
  std::unique_ptr<Server> server_;
  std::vector<std::shared_ptr<NodeProcess>> clients_;
};

}  // namespace holdfast
