//===- PlanCheck.h - does a plan hold together ----------------------------===//
#ifndef DYN_RUNTIME_PLANCHECK_H
#define DYN_RUNTIME_PLANCHECK_H

#include "runtime/Plan.h"
#include "runtime/Status.h"

namespace dyn {

/// Every number refers to something, every array fits its arena: what a session relies on without looking again.
/// A failure is a fault of the compiler or of a cache, and says where in the plan.
Status checkPlan(const plan::Plan &plan);

} // namespace dyn
#endif // DYN_RUNTIME_PLANCHECK_H
