// Reads the faults of a run back from its history. O(events), and forgiving: a field that is missing or odd makes the
// fault less believable (not effective, not healed), never the history unreadable.
#include "harness/fault.h"

#include <algorithm>
#include <unordered_map>

namespace holdfast {

namespace {

const Value* member(const Value& object, const char* field) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(field);
  return found == object.end() ? nullptr : &*found;
}

bool is_true(const Value& object, const char* field) {
  const Value* const value = member(object, field);
  return value != nullptr && value->is_boolean() && value->get<bool>();
}

bool is_text(const Value* value, std::string_view text) {
  return value != nullptr && value->is_string() && value->get_ref<const std::string&>() == text;
}

void add_node(FaultRecord& record, const Value& node) {
  if (!node.is_string()) return;
  const auto& name = node.get_ref<const std::string&>();
  if (std::ranges::find(record.nodes, name) == record.nodes.end()) record.nodes.push_back(name);
}

void read_target(FaultRecord& record, const Value& target) {
  record.target = target;
  record.server = is_true(target, "server");
  if (const Value* const process = member(target, "process"); process != nullptr && process->is_number_integer()) {
    record.process = Process{process->get<std::int64_t>()};
  }
  if (const Value* const node = member(target, "node")) add_node(record, *node);
  if (const Value* const nodes = member(target, "nodes"); nodes != nullptr && nodes->is_array()) {
    for (const Value& node : *nodes) add_node(record, node);
  }
  if (const Value* const links = member(target, "links"); links != nullptr && links->is_array()) {
    for (const Value& link : *links) {
      if (!link.is_array()) continue;
      for (const Value& node : link) add_node(record, node);
    }
  }
}

FaultRecord started(const Event& event, std::uint64_t id) {
  FaultRecord record;
  record.id = id;
  record.kind = event.f;
  record.start = event.time;
  record.start_event = event.index;
  if (const Value* const target = member(event.value, "target")) read_target(record, *target);
  record.effective = is_true(event.value, "effective") && member(event.value, "error") == nullptr;
  if (const Value* const evidence = member(event.value, "evidence")) record.evidence["start"] = *evidence;
  if (const Value* const error = member(event.value, "error")) record.evidence["error"] = *error;
  return record;
}

void ended(FaultRecord& record, const Event& event) {
  record.end = event.time;
  record.end_event = event.index;
  record.healed = is_true(event.value, "healed");
  // Some effects show only in time (packets dropped on a cut link), so the probe before healing may prove what the
  // one after injecting could not. It never takes back what was seen: a client may well die while it is paused.
  if (is_true(event.value, "effective") && !record.evidence.contains("error")) record.effective = true;
  if (const Value* const evidence = member(event.value, "evidence")) record.evidence["end"] = *evidence;
}

}  // namespace

std::vector<FaultRecord> fault_records(const History& history) {
  std::vector<FaultRecord> records;
  std::unordered_map<std::uint64_t, std::size_t> by_id;
  for (const Event& event : history.events()) {
    if (event.process != Process::nemesis) continue;
    const Value* const id = member(event.value, "fault");
    if (id == nullptr || !id->is_number_integer() || id->get<std::int64_t>() < 0) continue;
    const auto number = id->get<std::uint64_t>();
    const Value* const phase = member(event.value, "phase");
    if (is_text(phase, "start")) {
      by_id[number] = records.size();
      records.push_back(started(event, number));
      // What could not be injected is over at once; there is nothing to heal.
      if (member(event.value, "error") != nullptr) {
        records.back().end = event.time;
        records.back().healed = true;
      }
    } else if (is_text(phase, "end")) {
      if (const auto found = by_id.find(number); found != by_id.end()) ended(records[found->second], event);
    }
  }
  return records;
}

}  // namespace holdfast
