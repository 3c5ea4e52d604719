//===- Plan.h - everything about a program that is not code ---------------===//
//
// The compiler's second product beside the object file: what the runtime has
// to allocate, load, draw, count and report. It is stored as JSON beside the
// object in the cache, so that a warm start needs neither parser nor MLIR.
// Numbers in `numbers` are runtime operands: two specs that differ only there
// share one object file.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_PLAN_H
#define DYN_RUNTIME_PLAN_H

#include <cstdint>
#include <string>
#include <vector>

namespace dyn::plan {

enum class Element { f32, f64, i64, i1 };
/// Bytes of one element.
int64_t sizeOf(Element element);

/// One aligned allocation. `role` is "params", "grads", "state", "field", "work", "raw", "accumulator".
struct Arena {
  std::string name;
  std::string role;
  int64_t bytes = 0;
};

/// A named array inside an arena: a parameter leaf or a state; offset in elements of its type.
struct Leaf {
  std::string path;
  std::vector<int64_t> shape;
  Element element = Element::f32;
  int64_t arena = 0;
  int64_t offset = 0;
  std::string owner; ///< the rule that updates it, as the spec writes it
};

/// What a data function puts where a field of whole numbers has a fraction; refused, by row, while loading.
inline constexpr int64_t notWhole = INT64_MIN;

/// A column of a data declaration once loaded: one array [rows, shape…] in an arena of each set.
struct Field {
  std::string name;
  std::vector<int64_t> shape;
  Element element = Element::f32;
  int64_t classes = 0; ///< class(k): k, checked while loading; 0: not a class
};

/// Values of one input of a data function: a row of a file, each number as f64.
struct RawInput {
  std::string file;  ///< as resolved against the spec's folder; empty for synthetic
  int64_t width = 0; ///< values a row
  int64_t arena = 0; ///< chunk buffer [chunk, width] f64
  bool header = false; ///< csv: the first line names the columns
  std::string member;  ///< npz: which array of the file
};

/// Owner of the states that models keep: they are saved beside the parameters.
inline constexpr const char *modelOwner = "model";

/// A data declaration: how to fill its fields from files, chunk by chunk.
struct Source {
  std::string name;
  std::string format; ///< of its files: "csv", "idx", "npy", "npz", "text"; "synthetic", "table" and "stream" have none
  std::vector<RawInput> inputs;
  int64_t rows = 0;
  int64_t chunk = 0;                ///< rows a call of `function`
  std::vector<Field> fields;
  std::vector<int64_t> chunkArenas; ///< one a field: output buffer of `function`, [chunk, shape…]
  std::string function;             ///< compiled entry point
  std::string spec;                 ///< file:line:column of the declaration, for messages
  bool followsSeed = false;         ///< its draws change with the run's seed

  /// Rows without end: `rows` of them, one batch, are made at a time, while the run goes.
  bool isEndless() const { return format == "stream"; }
};

/// Rows of a source that travel together: a split, or all of it. Fields are copied into arenas of its own.
struct Set {
  std::string name; ///< "digits.train"
  int64_t source = 0;
  int64_t first = 0, rows = 0;      ///< range within the source's order
  bool permuted = false;            ///< the source's order is a permutation keyed by splitSeed
  uint64_t splitSeed = 0;
  std::vector<int64_t> fieldArenas; ///< one a field; -1: not used by this program
  int64_t windows = 0; ///< examples, where an example is a window over rows (text); 0: each row is one
  /// What feeds count.
  int64_t examples() const { return windows > 0 ? windows : rows; }
};

/// A stream of batches of a set.
struct Feed {
  std::string name;
  int64_t set = 0;
  int64_t batch = 0; ///< capacity
  bool shuffle = false;
  bool drop = false; ///< leave a short last batch out
};

/// When something happens. kind: "step" (step % n == 0, 0 included), "epoch" (at the end of every n-th pass and
/// before the first), "end" (after the last update), "at" (at the steps listed).
struct Event {
  std::string kind;
  int64_t every = 1;
  std::vector<int64_t> at;
};

struct Metric {
  std::string name;
  std::string clock = "step";
  std::vector<int64_t> shape;     ///< empty: a number
  std::vector<std::string> axes;  ///< names of leading dimensions
  std::vector<std::vector<std::string>> labels; ///< labels of each axis, or empty
  bool text = false; ///< its numbers are bytes, which people read as a text
};

/// A runtime operand.
struct Number {
  std::string name; ///< "adamw.lr"
  double value = 0;
  std::string formula; ///< how hyperparameters of the train make it (Formula.h); empty: no matter what they are
};

/// One matrix product shape; row-major. transposeA: A is stored [k, m].
struct Product {
  Element element = Element::f32;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool transposeA = false, transposeB = false;
  std::vector<int64_t> window = {}; ///< empty, or the numbers of a Window: runtime/Window.h says what is multiplied
};

/// A place that can fail at run time: guard, gather, while. Text speaks the spec's words.
struct Site {
  std::string kind;
  std::string what; ///< "loss", "h[i]"
  std::string spec; ///< file:line:column
};

/// A part of a program whose time is taken (`dync run --profile`). Parts are a tree: the first is the program, and the
/// time of the others lies inside that of their parent.
struct Part {
  std::string kind;      ///< "program", "function", "loop", "fused", "product", "copy", "library", "host", "metric"
  std::string what;      ///< in a few words: "matmul 32 x 64 x 32, its rows map [32, 32]"
  std::vector<std::string> spec; ///< file:line of all that it computes; the first is that of its result
  int64_t parent = -1;   ///< a part; -1: none
  int64_t bytes = 0;     ///< read and written by one pass through it
  int64_t flops = 0;     ///< floating-point operations of one pass
  bool shared = false;   ///< threads of the run may share its work
};

struct Plan {
  std::string name;      ///< the train
  std::string specFile;
  Element precision = Element::f32;
  int64_t total = 0;     ///< updates
  bool seeded = false;   ///< a seed was asked for
  uint64_t seed = 0;
  std::vector<Arena> arenas;
  std::vector<Leaf> params;
  std::vector<Leaf> served; ///< as evals and saved files have them; empty: `params`
  std::vector<Leaf> states;
  /// States of optimizers and clips as an experiment names them, those of a group array by array: `optimizer.m.net.W`.
  std::vector<Leaf> ruleStates;
  std::vector<Source> sources;
  std::vector<Set> sets;
  std::vector<Feed> feeds; ///< feed 0, if any, is the train's own: it defines the epoch
  std::vector<Event> events;
  int64_t checkpoint = -1;       ///< the event at which the run is kept as it is; -1: never
  std::vector<Metric> metrics;
  std::vector<Number> numbers;
  std::vector<Product> products;
  std::vector<Site> sites;
  std::vector<Part> parts; ///< empty: nobody asked
  std::string entry = "dyn_main"; ///< compiled loop

  /// What a run leaves behind.
  const std::vector<Leaf> &kept() const { return served.empty() ? params : served; }
};

std::string toJson(const Plan &plan);
/// False with a reason when text is not a plan of this build.
bool fromJson(const std::string &text, Plan &plan, std::string &why);

} // namespace dyn::plan
#endif // DYN_RUNTIME_PLAN_H
