// What a user reads, and that it is read-only.

import { expectTypeOf } from 'expect-type'
import {
  createSpillway,
  type LatencySummary,
  type Outcome,
  type OverloadError,
  type ShedCause,
  type ShedReason,
  type ShedVerdict,
  type Snapshot,
  type Spillway,
} from 'spillway'

using spillway = createSpillway()
expectTypeOf(spillway).toEqualTypeOf<Spillway>()
expectTypeOf(spillway.close()).toBeVoid()

const snapshot = spillway.snapshot()
expectTypeOf(snapshot).toEqualTypeOf<Snapshot>()
expectTypeOf(snapshot.requests.lastMinute).toEqualTypeOf<LatencySummary>()
expectTypeOf(snapshot.runtime.loop.delayMs.p99).toBeNumber()
expectTypeOf(snapshot.runtime.heap.afterGcBytes).toEqualTypeOf<number | null>()
expectTypeOf(snapshot.runtime.collections.major.totalMs).toBeNumber()
expectTypeOf<keyof Snapshot['routes'][number]['outcomes']>().toEqualTypeOf<Outcome>()
for (const { parts, loopMs } of snapshot.routes) {
  expectTypeOf(parts?.lastMinute.unreadMs).toEqualTypeOf<number | undefined>()
  expectTypeOf(loopMs?.lastMinute).toEqualTypeOf<number | undefined>()
}

for (const { outcome, firstByteMs, parts, unreadMs } of snapshot.slowest) {
  expectTypeOf(outcome).toEqualTypeOf<Outcome>()
  expectTypeOf(firstByteMs).toEqualTypeOf<number | null>()
  expectTypeOf(parts?.waitMs).toEqualTypeOf<number | undefined>()
  expectTypeOf(unreadMs).toEqualTypeOf<number | null>()
}

for (const { reason, value, bound } of snapshot.admission.rejected) {
  expectTypeOf(reason).toEqualTypeOf<ShedReason>()
  expectTypeOf(value).toEqualTypeOf<number | null>()
  expectTypeOf(bound).toEqualTypeOf<number | null>()
}
expectTypeOf<ShedVerdict>().toExtend<ShedCause>()
expectTypeOf<OverloadError>().toExtend<ShedCause>()
spillway.on('overload', (cause) => expectTypeOf(cause).toEqualTypeOf<ShedCause>())

// @ts-expect-error frozen
snapshot.routesFolded = 0
// @ts-expect-error frozen
snapshot.routes.push()
// @ts-expect-error frozen, deep down
snapshot.runtime.heap.usedBytes = 0
// @ts-expect-error no such signal
snapshot.runtime.disk
