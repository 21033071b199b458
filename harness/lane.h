// A lane: one seat at the table, taken by one client process after another. The controller's end of the adapter
// protocol, without the decisions, which are the runner's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/event.h"
#include "harness/generator.h"
#include "harness/node.h"
#include "harness/protocol.h"

namespace holdfast {

struct Lane {
  enum class State : std::uint8_t {
    absent,    // no client; one is started at `due`
    starting,  // a thread of ours is starting it
    opening,   // it was told to open
    idle,      // waits for us; the generator is asked not before `due`
    busy,      // works on `operation` until `due`
    given_up,  // its clients would not start
  };

  std::size_t number = 0;
  Node* node = nullptr;
  Process process{};
  State state = State::absent;
  std::shared_ptr<NodeProcess> client;
  LineReader reader;
  std::uint64_t request = 0;  // id of the last request
  Invocation operation;
  Time due{};
  bool finished = false;                       // the generator has nothing more for this process
  bool held = false;                           // the nemesis wants it to stand still
  bool paused = false;                         // its process is stopped: its time does not run
  std::optional<std::uint64_t> waits_at_step;  // request whose `continue` is due once it is no longer held
  unsigned failures = 0;                       // starts in a row that did not work
  std::uint64_t notes = 0;                     // since `notes_since`
  Time notes_since{};
  std::string outbox;  // written when the turn's events are on disk

  [[nodiscard]] bool connected() const { return client != nullptr; }
};

}  // namespace holdfast
