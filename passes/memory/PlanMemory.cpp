//===- PlanMemory.cpp - every array gets its place ------------------------===//
//
// Homes.cpp decides what is made directly in an arena or inside another array.
// Here the rest get bytes of the work arena: each array that lives by itself
// is a block with a first and a last moment; blocks are laid out largest
// first, each at the lowest offset where it meets no block of its time.
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Homes.h"
#include "passes/memory/Passes.h"

#include "passes/fuse/Clusters.h"

namespace dyn::memory {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/memory/Passes.h.inc"
} // namespace dyn::memory

using namespace mlir;

namespace dyn::memory {
namespace {

constexpr int64_t alignment = 64; // bytes: a cache line, and the widest vector

/// One piece of the work arena.
struct Room {
  int64_t bytes = 0;
  int first = 0, last = 0;
  int64_t offset = -1;
};

/// The plan of one function.
class FunctionPlan {
public:
  FunctionPlan(func::FuncOp function, int64_t workArena)
      : function(function), workArena(workArena), time(function), homes(function, time) {}

  /// Bytes of the work arena that the function needs.
  int64_t run();

private:
  void collect();
  void makeRoom(Value value, int64_t bytes);
  /// An elementwise loop writes over an input of the same size that ends with it.
  bool takeOver(kernel::FusedOp op, Value result);
  /// Extends the life of the room that holds `value` to cover the life of `value`.
  void cover(Value value);
  int64_t layOut();
  Place placeOfValue(Value value) const;
  void annotate();

  func::FuncOp function;
  int64_t workArena;
  Timeline time;
  Homes homes;
  std::vector<Room> rooms;
  llvm::DenseMap<Value, int> roomOf;
  SmallVector<Operation *> order;
};

/// Whether result i of `op` needs bytes of its own or of a home.
bool isMade(Operation *op, Value result) {
  if (isa<run::ReadOp, run::RowsOp, nd::ConstantOp>(op) || fuse::isView(op))
    return false;
  if (!isScalar(result))
    return true;
  // Partial results of the blocks of a total reduction.
  auto fused = dyn_cast<kernel::FusedOp>(op);
  return fused && fused.getForm() == kernel::Form::total;
}

int64_t roomBytes(Operation *op, Value result) {
  auto fused = dyn_cast<kernel::FusedOp>(op);
  if (fused && isScalar(result))
    return totalShapeOf(fused).blocks * elementBytes(result.getType());
  return bytesOf(result);
}

void FunctionPlan::makeRoom(Value value, int64_t bytes) {
  Operation *op = value.getDefiningOp();
  roomOf[value] = rooms.size();
  rooms.push_back({bytes, time.startsWriting(op), time.end(op), -1});
}

void FunctionPlan::cover(Value value) {
  // Through homes to the value that owns the room.
  Value owner = value;
  while (const Home *home = homes.of(owner)) {
    if (home->kind == Home::arena)
      return;
    owner = home->holder;
  }
  auto found = roomOf.find(owner);
  if (found == roomOf.end())
    return;
  Room &room = rooms[found->second];
  Operation *op = value.getDefiningOp();
  // Seen from the block of the owner, so that a loop counts as a whole.
  Operation *here = owner.getParentBlock()->findAncestorOpInBlock(*op);
  int first = here == op ? time.startsWriting(op) : time.at(here);
  int last = here == op ? std::max(time.end(op), time.lastUse(value)) : time.end(here);
  room.first = std::min(room.first, first);
  room.last = std::max(room.last, last);
}

bool FunctionPlan::takeOver(kernel::FusedOp op, Value result) {
  if (isScalar(result))
    return false;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    View view = viewOf(input);
    auto found = roomOf.find(view.base);
    if (found == roomOf.end() || view.bytes || bytesOf(view.base) != bytesOf(result) ||
        elementBytes(view.base.getType()) != elementBytes(result.getType()) ||
        view.base.getParentBlock() != op->getBlock() || isScalar(view.base))
      continue;
    Room &room = rooms[found->second];
    // Other readers, homes inside it, or another result that took it: all show in the room's life.
    int64_t bytes = room.bytes;
    if (bytes != bytesOf(result) || room.last > time.end(op) || time.lastUse(view.base) > time.end(op))
      continue;
    bool own = true;
    // A product that it follows reads all of its operands while the first rows are written.
    if (op.getEpilogue())
      for (Value operand : op->getPrevNode()->getOperands())
        own &= viewOf(operand).base != view.base;
    for (auto [j, other] : llvm::enumerate(op.getInputs()))
      if (viewOf(other).base == view.base)
        own &= readsOwnIndex(op, j) && nd::shapeOf(op.getBody().getArgument(j)) == nd::shapeOf(result);
    // A row's scalars are kept before the row's elements are: only whole shapes take over whole shapes.
    if (!own || nd::shapeOf(result) != op.getDomain())
      continue;
    roomOf[result] = found->second;
    room.last = std::max(room.last, time.lastUse(result));
    return true;
  }
  return false;
}

void FunctionPlan::collect() {
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<kernel::FusedOp>(op)) {
      order.push_back(op);
      return WalkResult::skip();
    }
    if (op != function)
      order.push_back(op);
    return WalkResult::advance();
  });
  // Rooms first for owners with homes inside them (their life starts earlier), then in order, so that take-over sees
  // whole lives.
  for (Operation *op : order) {
    auto read = dyn_cast<run::ReadOp>(op);
    for (Value result : op->getResults()) {
      bool made = read ? !isScalar(result) && homes.needsCopy(read) : isMade(op, result);
      if (!made || homes.of(result))
        continue;
      bool holds = isa<nd::ConcatOp>(op) || op->getNumRegions() > 0;
      if (holds && !isa<kernel::FusedOp>(op))
        makeRoom(result, roomBytes(op, result));
    }
  }
  for (Operation *op : order)
    for (Value result : op->getResults())
      if (homes.of(result) || roomOf.contains(result))
        cover(result);
  for (Operation *op : order) {
    auto read = dyn_cast<run::ReadOp>(op);
    for (Value result : op->getResults()) {
      bool made = read ? !isScalar(result) && homes.needsCopy(read) : isMade(op, result);
      if (!made || homes.of(result) || roomOf.contains(result))
        continue;
      auto fused = dyn_cast<kernel::FusedOp>(op);
      if (fused && takeOver(fused, result))
        continue;
      makeRoom(result, roomBytes(op, result));
      rooms.back().last = std::max(rooms.back().last, time.lastUse(result));
    }
  }
}

int64_t FunctionPlan::layOut() {
  SmallVector<int> bySize = llvm::to_vector(llvm::seq<int>(0, rooms.size()));
  llvm::sort(bySize, [&](int a, int b) { return std::pair(-rooms[a].bytes, a) < std::pair(-rooms[b].bytes, b); });
  SmallVector<int> placed; // by offset
  int64_t peak = 0;
  for (int index : bySize) {
    Room &room = rooms[index];
    int64_t at = 0;
    for (int other : placed) {
      const Room &there = rooms[other];
      if (there.first > room.last || room.first > there.last)
        continue;
      if (at + room.bytes <= there.offset)
        break;
      at = std::max(at, int64_t(llvm::alignTo(there.offset + there.bytes, alignment)));
    }
    room.offset = at;
    peak = std::max(peak, at + room.bytes);
    auto where = llvm::upper_bound(placed, index, [&](int a, int b) { return rooms[a].offset < rooms[b].offset; });
    placed.insert(where, index);
  }
  return llvm::alignTo(peak, alignment);
}

Place FunctionPlan::placeOfValue(Value value) const {
  const Home *home = homes.of(value);
  if (!home)
    return {workArena, rooms[roomOf.lookup(value)].offset};
  if (home->kind == Home::arena)
    return home->place;
  Place place = placeOfValue(home->holder);
  place.offset += home->bytes;
  // Rows of a stack that is itself a row move with the outer loop; the inner one does not know how.
  if (home->kind == Home::row)
    place.stride = bytesOf(value);
  return place;
}

void FunctionPlan::annotate() {
  Builder builder(function.getContext());
  for (Operation *op : order) {
    SmallVector<Attribute> places;
    bool any = false;
    for (Value result : op->getResults()) {
      SmallVector<int64_t> numbers;
      if (homes.of(result) || roomOf.contains(result)) {
        Place place = placeOfValue(result);
        numbers = {place.arena, place.offset, place.stride};
        any = true;
      }
      places.push_back(builder.getDenseI64ArrayAttr(numbers));
    }
    if (any)
      op->setAttr("places", builder.getArrayAttr(places));
  }
}

int64_t FunctionPlan::run() {
  collect();
  int64_t bytes = layOut();
  annotate();
  return bytes;
}

struct PlanMemory : impl::PlanMemoryPassBase<PlanMemory> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(&getContext());
    int64_t arena = 0;
    if (auto given = module->getAttrOfType<IntegerAttr>("kernel.work_arena")) {
      arena = given.getInt();
    } else {
      module.walk([&](Operation *op) {
        if (auto read = dyn_cast<run::ReadOp>(op))
          arena = std::max<int64_t>(arena, read.getArena() + 1);
        if (auto write = dyn_cast<run::WriteOp>(op))
          arena = std::max<int64_t>(arena, write.getArena() + 1);
      });
      module->setAttr("kernel.work_arena", builder.getI64IntegerAttr(arena));
    }
    int64_t bytes = 0;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal())
        bytes = std::max(bytes, FunctionPlan(function, arena).run());
    module->setAttr("kernel.work_bytes", builder.getI64IntegerAttr(bytes));
  }
};

} // namespace
} // namespace dyn::memory
