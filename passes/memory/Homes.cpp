//===- Homes.cpp - values that are made where they go ---------------------===//
#include "passes/memory/Homes.h"

#include "passes/fuse/Clusters.h"

using namespace mlir;

namespace dyn::memory {

Timeline::Timeline(func::FuncOp function) {
  int now = 0;
  std::function<void(Operation *)> walk = [&](Operation *op) {
    first[op] = now++;
    if (!isa<kernel::FusedOp>(op))
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Operation &inner : block)
            walk(&inner);
    last[op] = now++;
  };
  walk(function);
}

int Timeline::lastUse(Value value) const {
  Block *block = value.getParentBlock();
  int latest = -1;
  for (Operation *user : value.getUsers()) {
    Operation *here = block->findAncestorOpInBlock(*user);
    latest = std::max(latest, end(here));
    // A product with an epilogue reads until the epilogue has run.
    if (isa<kernel::ProductOp>(here))
      if (auto fused = dyn_cast_or_null<kernel::FusedOp>(here->getNextNode()); fused && fused.getEpilogue())
        latest = std::max(latest, end(fused));
    if (fuse::isView(user))
      latest = std::max(latest, user->getBlock() == block ? lastUse(user->getResult(0)) : end(here));
  }
  return latest;
}

int Timeline::startsWriting(Operation *op) const {
  auto fused = dyn_cast<kernel::FusedOp>(op);
  if (fused && fused.getEpilogue())
    return at(fused->getPrevNode());
  return at(op);
}

Homes::Homes(func::FuncOp function, const Timeline &time) : function(function), time(time) {
  SmallVector<Operation *> order;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<kernel::FusedOp>(op))
      return WalkResult::skip();
    order.push_back(op);
    if (auto read = dyn_cast<run::ReadOp>(op))
      reads.push_back(read);
    if (auto write = dyn_cast<run::WriteOp>(op))
      writes.push_back(write);
    if (auto guard = dyn_cast<run::GuardOp>(op))
      guards.push_back(guard);
    return WalkResult::advance();
  });
  findContested();
  for (Operation *op : llvm::reverse(order))
    visit(op);
}

/// Ranges by where they begin: one that begins before the furthest end so far meets the range that ends there, and no
/// other pair need be looked at.
void Homes::findContested() {
  struct Range {
    int64_t arena, begin, end;
    Operation *write;
  };
  SmallVector<Range> ranges;
  for (run::WriteOp write : writes) {
    int64_t begin = write.getOffset() * elementBytes(write.getValue().getType());
    ranges.push_back({int64_t(write.getArena()), begin, begin + bytesOf(write.getValue()), write});
  }
  llvm::sort(ranges, [](const Range &a, const Range &b) {
    return std::pair(a.arena, a.begin) < std::pair(b.arena, b.begin);
  });
  const Range *furthest = nullptr;
  for (const Range &range : ranges) {
    if (furthest && furthest->arena == range.arena && range.begin < furthest->end) {
      contested.insert(furthest->write);
      contested.insert(range.write);
      if (range.end <= furthest->end)
        continue;
    }
    furthest = &range;
  }
}

void Homes::visit(Operation *op) {
  if (auto write = dyn_cast<run::WriteOp>(op))
    visitWrite(write);
  else if (auto concat = dyn_cast<nd::ConcatOp>(op))
    visitConcat(concat);
  else if (isa<nd::YieldOp>(op))
    visitYield(op);
  else if (auto scan = dyn_cast<nd::ScanOp>(op))
    visitInits(op, scan.getInits());
  else if (auto loop = dyn_cast<nd::WhileOp>(op))
    visitInits(op, loop.getInits());
}

Value Homes::homeless(Value value, Block *block) const {
  View view = viewOf(value);
  Operation *op = view.base.getDefiningOp();
  if (!op || op->getBlock() != block || isScalar(view.base) || view.bytes != 0 ||
      bytesOf(view.base) != bytesOf(value) || homes.contains(view.base))
    return nullptr;
  if (isa<run::ReadOp, run::RowsOp, nd::ConstantOp>(op))
    return nullptr;
  return view.base;
}

static bool overlap(int64_t a, int64_t aSize, int64_t b, int64_t bSize) { return a < b + bSize && b < a + aSize; }

bool Homes::readsInPlace(Operation *maker, Value value) const {
  auto fused = dyn_cast<kernel::FusedOp>(maker);
  if (!fused)
    return false;
  // The product that it follows reads all of its operands while the first rows are written.
  if (fused.getEpilogue())
    for (Value operand : fused->getPrevNode()->getOperands())
      if (viewOf(operand).base == value)
        return false;
  for (auto [i, input] : llvm::enumerate(fused.getInputs()))
    if (viewOf(input).base == value && !readsOwnIndex(fused, i))
      return false;
  return true;
}

std::optional<Place> Homes::arenaOf(Value value) const {
  int64_t bytes = 0;
  while (const Home *home = of(value)) {
    if (home->kind == Home::arena)
      return Place{home->place.arena, home->place.offset + bytes};
    if (home->kind == Home::row)
      return std::nullopt;
    bytes += home->bytes;
    value = home->holder;
  }
  return std::nullopt;
}

bool Homes::mayWriteEarly(int64_t arena, int64_t offset, int64_t size, Operation *maker, Operation *write) const {
  int from = time.startsWriting(maker), to = time.at(write);
  for (run::GuardOp guard : guards)
    if (time.at(guard) > from && time.at(guard) < to)
      return false;
  for (run::ReadOp read : reads) {
    int64_t unit = elementBytes(read.getType()), start = read.getOffset() * unit;
    if (int64_t(read.getArena()) != arena || !overlap(start, bytesOf(read), offset, size) || time.at(read) > to)
      continue;
    int last = time.lastUse(read);
    if (last < from)
      continue;
    // The maker itself may read what it replaces, element by element, if the two ranges lie on each other.
    bool own = last <= time.end(maker) && readsInPlace(maker, read);
    auto fused = dyn_cast<kernel::FusedOp>(maker);
    for (unsigned i = 0; own && i < fused.getInputs().size(); ++i) {
      View view = viewOf(fused.getInputs()[i]);
      if (view.base == read && (start + view.bytes != offset || bytesOf(fused.getInputs()[i]) != size))
        own = start + view.bytes >= offset + size || start + view.bytes + bytesOf(fused.getInputs()[i]) <= offset;
    }
    if (!own)
      return false;
  }
  if (!contested.contains(write))
    return true;
  for (run::WriteOp other : writes) {
    Value value = other.getValue();
    int64_t start = other.getOffset() * elementBytes(value.getType());
    if (other == write || int64_t(other.getArena()) != arena || !overlap(start, bytesOf(value), offset, size))
      continue;
    // Two writes of one range in a function: keep the order as written.
    return false;
  }
  return true;
}

void Homes::visitWrite(run::WriteOp op) {
  Value value = homeless(op.getValue(), op->getBlock());
  if (!value)
    return;
  int64_t offset = op.getOffset() * elementBytes(value.getType());
  if (!mayWriteEarly(op.getArena(), offset, bytesOf(value), value.getDefiningOp(), op))
    return;
  homes[value] = Home{Home::arena, Place{int64_t(op.getArena()), offset}, nullptr, 0};
  writeOf[value] = op;
}

void Homes::visitConcat(nd::ConcatOp op) {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    std::optional<int64_t> slot = concatSlot(op, i);
    Value value = homeless(input, op->getBlock());
    if (!slot || !value || bytesOf(value) == 0)
      continue;
    // If the whole is an arena's range, the piece is written there when it is made.
    Value whole = op.getResult();
    if (std::optional<Place> place = arenaOf(whole)) {
      Value top = whole;
      while (const Home *home = of(top)) {
        if (home->kind == Home::arena)
          break;
        top = home->holder;
      }
      if (!mayWriteEarly(place->arena, place->offset + *slot, bytesOf(value), value.getDefiningOp(),
                         writeOf.lookup(top)))
        continue;
    }
    homes[value] = Home{Home::inside, {}, whole, *slot};
  }
}

bool Homes::mayReplace(Value carried, Operation *maker) const {
  int last = time.lastUse(carried);
  if (last < time.startsWriting(maker))
    return true;
  return last <= time.end(maker) && readsInPlace(maker, carried);
}

bool Homes::movesWithLoop(Value value) const {
  while (const Home *home = of(value)) {
    if (home->kind == Home::row)
      return true;
    value = home->holder;
    if (!value)
      return false;
  }
  return false;
}

void Homes::visitYield(Operation *yield) {
  Operation *parent = yield->getParentOp();
  unsigned carries = 0, firstArgument = 0;
  if (auto scan = dyn_cast<nd::ScanOp>(parent)) {
    carries = scan.getInits().size();
    firstArgument = 1;
  } else if (auto loop = dyn_cast<nd::WhileOp>(parent)) {
    if (yield->getParentRegion() == &loop.getCondition())
      return;
    carries = loop.getInits().size();
  }
  for (auto [i, operand] : llvm::enumerate(yield->getOperands())) {
    if (isScalar(operand))
      continue;
    Value value = homeless(operand, yield->getBlock());
    if (!value)
      continue;
    Value result = parent->getResult(i);
    // A place knows one loop that it moves with.
    if (isa<nd::ScanOp>(parent) && movesWithLoop(result))
      continue;
    if (i < carries) {
      if (mayReplace(yield->getBlock()->getArgument(firstArgument + i), value.getDefiningOp()))
        homes[value] = Home{Home::inside, {}, result, 0};
    } else if (isa<nd::ScanOp>(parent)) {
      homes[value] = Home{Home::row, {}, result, 0};
    } else {
      homes[value] = Home{Home::inside, {}, result, 0};
    }
  }
}

void Homes::visitInits(Operation *loop, ValueRange inits) {
  for (auto [i, init] : llvm::enumerate(inits)) {
    if (isScalar(init))
      continue;
    Value value = homeless(init, loop->getBlock());
    // The loop writes over it: nobody else may need it, not even a view or the loop's own body.
    if (!value || !value.hasOneUse() || !init.hasOneUse() || arenaOf(loop->getResult(i)))
      continue;
    homes[value] = Home{Home::inside, {}, loop->getResult(i), 0};
  }
}

bool Homes::needsCopy(run::ReadOp read) const {
  int64_t start = read.getOffset() * elementBytes(read.getType());
  int last = time.lastUse(read);
  for (run::WriteOp write : writes) {
    int64_t offset = write.getOffset() * elementBytes(write.getValue().getType());
    if (write.getArena() != read.getArena() || !overlap(start, bytesOf(read), offset, bytesOf(write.getValue())))
      continue;
    bool loop = write->getBlock() != read->getBlock();
    Value base = viewOf(write.getValue()).base;
    if (base == read.getResult() && !loop)
      continue;
    // Values with a home here were checked against this read when they got it.
    if (time.at(write) < last && (time.at(write) > time.at(read) || loop))
      return true;
  }
  return false;
}

} // namespace dyn::memory
