#include "results/timeline.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "results/holds.h"

namespace holdfast {
namespace {

// Each distinct value once; a column then holds its number.
class Pool {
 public:
  std::int64_t number_of(const Value& value) {
    if (value.is_null()) return -1;
    const auto [found, fresh] = numbers_.try_emplace(value.dump(-1, ' ', false, Value::error_handler_t::replace),
                                                     static_cast<std::int64_t>(values_.size()));
    if (fresh) values_.push_back(value);
    return found->second;
  }
  std::int64_t number_of(const std::string& text) { return text.empty() ? -1 : number_of(Value(text)); }
  Value take() { return std::move(values_); }

 private:
  std::unordered_map<std::string, std::int64_t> numbers_;
  Value values_ = Value::array();
};

struct Row {
  std::int64_t process;
  std::string node;
};

// "c2" before "c10".
bool natural_less(const std::string& a, const std::string& b) {
  if (a.size() != b.size() && !a.empty() && !b.empty() && a.front() == b.front()) return a.size() < b.size();
  return a < b;
}

std::vector<Row> rows_of(const History& history) {
  std::map<std::int64_t, std::string> nodes;
  for (const Event& event : history.events()) {
    if (event.process == Process::nemesis) continue;
    std::string& node = nodes[number(event.process)];
    if (node.empty()) node = event.node;
  }
  std::vector<Row> rows;
  rows.reserve(nodes.size());
  for (const auto& [process, node] : nodes) rows.push_back({process, node});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return natural_less(a.node, b.node); });
  return rows;
}

Value events_in_columns(const History& history, Pool& pool) {
  std::vector<std::uint64_t> index;
  std::vector<std::int64_t> time;  // since the event before
  std::vector<int> type;
  std::vector<std::int64_t> process;
  std::vector<std::int64_t> columns[5];  // f, key, value, node, error: numbers in the pool
  Value extra = Value::object();
  Time previous{};
  for (const Event& event : history.events()) {
    if (event.extra.is_object()) extra[std::to_string(index.size())] = event.extra;
    index.push_back(event.index);
    time.push_back((event.time - previous).count());
    previous = event.time;
    type.push_back(static_cast<int>(event.type));
    process.push_back(number(event.process));
    columns[0].push_back(pool.number_of(event.f));
    columns[1].push_back(pool.number_of(event.key));
    columns[2].push_back(pool.number_of(event.value));
    columns[3].push_back(pool.number_of(event.node));
    columns[4].push_back(pool.number_of(event.error));
  }
  // Recorded histories count from 0 without gaps; then the place says it all.
  bool dense = true;
  for (std::size_t i = 0; i < index.size(); ++i) dense = dense && index[i] == i;
  return {{"index", dense ? Value() : Value(index)},
          {"time", time},
          {"type", type},
          {"process", process},
          {"f", columns[0]},
          {"key", columns[1]},
          {"value", columns[2]},
          {"node", columns[3]},
          {"error", columns[4]},
          {"extra", std::move(extra)}};
}

}  // namespace

Value timeline_data(const RunResults& results, const History& history) {
  const Event* first = history.events().data();
  const auto place = [first](const Event* event) { return event == nullptr ? -1 : event - first; };
  std::vector<std::ptrdiff_t> invoke;
  std::vector<std::ptrdiff_t> complete;
  for (const Operation& operation : history.operations()) {
    invoke.push_back(place(operation.invoke));
    complete.push_back(place(operation.complete));
  }
  std::vector<std::ptrdiff_t> acquired;
  std::vector<std::ptrdiff_t> ended;
  for (const BelievedHold& hold : believed_holds(history)) {
    acquired.push_back(place(hold.acquired));
    ended.push_back(place(hold.ended));
  }
  Value rows = Value::array();
  for (const Row& row : rows_of(history)) rows.push_back({{"process", row.process}, {"node", row.node}});
  Value faults = Value::array();
  for (const FaultRecord& fault : results.faults) {
    faults.push_back(
        {{"label", describe(fault)},
         {"kind", fault.kind},
         {"start", fault.start.count()},
         {"end", fault.end == Time::max() ? Value() : Value(fault.end.count())},
         {"process", fault.process ? Value(number(*fault.process)) : Value()},
         {"events", fault.end_event ? Value{fault.start_event, *fault.end_event} : Value::array({fault.start_event})},
         {"effective", fault.effective}});
  }
  Value findings = Value::array();
  for (const PropertyResult& property : results.properties) {
    for (const Finding& finding : property.verdict.findings) {
      findings.push_back({{"title", property.title}, {"kind", finding.kind}, {"events", finding.events}});
    }
  }
  Pool pool;
  Value events = events_in_columns(history, pool);
  return {{"end", history.end().count()},
          {"rows", std::move(rows)},
          {"events", std::move(events)},
          {"values", pool.take()},
          {"operations", {{"invoke", invoke}, {"complete", complete}}},
          {"holds", {{"acquired", acquired}, {"ended", ended}}},
          {"faults", std::move(faults)},
          {"findings", std::move(findings)}};
}

}  // namespace holdfast
