//===- Series.h - arrays with named axes ------------------------*- C++ -*-===//
//
// What a run or a sweep measured: `loss` of a run has the axis `step`, that of a sweep one axis more for each swept
// name. Arrays meet by the names of their axes. A run that ended before the others, or emits less, lacks entries:
// they are missing, which no arithmetic hides.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/elaborate/Value.h"

#include <optional>

namespace dyn::elab {

/// A named dimension: the moments of a metric, or a swept name with the values it takes.
struct Axis {
  std::string name;
  std::vector<double> labels;     ///< moments, or swept numbers
  std::vector<std::string> words; ///< swept values that are no numbers, as the spec writes them; then no labels
  bool isMoments = false;

  int64_t size() const { return static_cast<int64_t>(words.empty() ? labels.size() : words.size()); }
  /// `128`, `adam`: as short as it reads back.
  std::string label(int64_t at) const;
  std::optional<int64_t> find(double label) const;
  std::optional<int64_t> find(const std::string &word) const;
  bool operator==(const Axis &other) const = default;
};

/// Why an entry has no value, for messages: `why` goes on from "`a.loss` has no value at step=5".
struct Gap {
  std::string why, help;
  /// Measured by a run that diverged, and not finite: no reduction passes over it.
  bool isSpoilt = false;
};
using GapPtr = std::shared_ptr<const Gap>;
/// Of what was never measured: reductions over moments take the others.
GapPtr notMeasured();

/// A leaf of a tree: a parameter with its path.
struct TreeLeaf {
  std::string path;
  std::vector<int64_t> shape;
  int64_t size() const;
  bool operator==(const TreeLeaf &other) const = default;
};

/// An array whose first dimensions have names. Without names: the plain value of a finished run, such as a parameter.
struct Series {
  std::string name;           ///< for messages
  std::vector<Axis> axes;     ///< of different names; moments are the last
  std::vector<int64_t> shape; ///< of one entry
  std::vector<TreeLeaf> tree; ///< an entry is a tree of these leaves, one behind the other in its only dimension
  std::vector<double> values; ///< row-major over axes, then shape
  std::vector<GapPtr> missing; ///< by entry, null where a value is; empty: none is missing
  std::string chosen;         ///< "rate=20, step=3": which labels `at` took, for messages
  Elem elem = Elem::Real;
  bool isSketch = false;      ///< of a run that is only checked: its axes are known (not the moments), values are not

  bool isNamed() const { return !axes.empty(); }
  /// Product of the named sizes, and of `shape`.
  int64_t entries() const;
  int64_t width() const;
  GapPtr gap(int64_t entry) const { return missing.empty() ? nullptr : missing[static_cast<size_t>(entry)]; }
  bool isMissing(int64_t entry) const { return gap(entry) != nullptr; }
  bool isMeasured(int64_t entry) const { return !isMissing(entry) || missing[static_cast<size_t>(entry)]->isSpoilt; }
  bool lacksSome() const;
  /// Forgets the list of gaps where there are none.
  void dropEmptyGaps();
  std::optional<size_t> axis(llvm::StringRef name) const;
  /// The axis of moments, which is the last if there is one.
  std::optional<size_t> moments() const;
  /// Named sizes, then `shape`.
  llvm::SmallVector<int64_t> dims() const;
  /// "width=64, step=400": where an entry is.
  std::string place(int64_t entry) const;

  /// One position of an axis, which goes; or several, which stay.
  Series at(size_t axis, int64_t position) const;
  Series select(size_t axis, llvm::ArrayRef<int64_t> positions) const;
  /// The same entries over more axes, which hold those of this in any order; numbers fill entries of `shape`.
  Series spreadOver(const std::vector<Axis> &axes, llvm::ArrayRef<int64_t> shape) const;
  /// Of trees: the leaf of a path, or the tree below it; nothing where there is neither.
  std::optional<Series> below(llvm::StringRef path) const;
  /// The positions along its only axis at which a mask holds.
  std::vector<int64_t> positions() const;
};

/// Arrays of the members of a sweep as one, with its axes in front. Members may have other moments, or no such array
/// (null): what is not there is missing. Nothing where entries differ in shape, or no member has it.
std::optional<Series> stackMembers(const std::string &name, const std::vector<Axis> &axes,
                                   const std::vector<std::shared_ptr<Series>> &members);

/// What `model` is in a sweep without members: no entry, the same shape.
Series stackNone(const Series &model, const std::vector<Axis> &axes);

/// Whether a value has named axes.
bool isNamed(const Value &value);
/// Whether it is a value without named axes that is missing: what is computed from it is missing too.
bool isMissing(const Value &value);
/// Whether it stands for what a run would have measured.
bool isSketch(const Value &value);

} // namespace dyn::elab
