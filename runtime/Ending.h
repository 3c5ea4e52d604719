//===- Ending.h - what is said of a run that is over ----------------------===//
//
// The same words whether `dync run` or an executable of its own ran the train.
//
//===----------------------------------------------------------------------===//
#ifndef DYN_RUNTIME_ENDING_H
#define DYN_RUNTIME_ENDING_H

#include "runtime/Session.h"

namespace dyn {

/// The first parameter with a value that is not finite; null: there is none.
const plan::Leaf *notFiniteLeaf(const Session &session);
/// No loss saw the parameters that the last update made: ones that are not finite count as a loss that is not.
void checkLastUpdate(const Session &session, Outcome &outcome);
/// That `leaf` is not finite, and whose update made it so.
std::string describeLeaf(const plan::Leaf &leaf, const Outcome &outcome);
/// Whether what failed is a division of whole numbers by 0: its divisor is looked up in a table of one place.
bool dividesByZero(const plan::Plan &plan, const DynContext &ctx);
/// A line with the steps and the last value of each metric that is a number; below it the last value of each text.
std::string summary(const Session &session, const Outcome &outcome);

} // namespace dyn
#endif // DYN_RUNTIME_ENDING_H
