// What a primary of a cluster is given and tells.

import { expectTypeOf } from 'expect-type'
import { type ClusterPrimary, clusterPrimary, createSpillway } from 'spillway'

const primary = clusterPrimary({ workers: 4, exec: './server.js', logger: false })
expectTypeOf(primary).toEqualTypeOf<ClusterPrimary>()
expectTypeOf(clusterPrimary()).toEqualTypeOf<ClusterPrimary>()
expectTypeOf(primary.restart()).resolves.toBeVoid()
for (const { pid, state } of primary.snapshot().workers) {
  expectTypeOf(pid).toEqualTypeOf<number | undefined>()
  expectTypeOf(state).toEqualTypeOf<'starting' | 'ready' | 'leaving'>()
}
primary.on('crashed', ({ code, signal }) => {
  expectTypeOf(code).toEqualTypeOf<number | null>()
  expectTypeOf(signal).toEqualTypeOf<string | null>()
})

createSpillway({ memory: { recycleAt: 0.8 } }).on('degraded', ({ reason, usedBytes }) => {
  expectTypeOf(reason).toEqualTypeOf<'heap' | 'rss'>()
  expectTypeOf(usedBytes).toBeNumber()
})

// @ts-expect-error a number
clusterPrimary({ workers: 'all' })
// @ts-expect-error unknown option
clusterPrimary({ worker: 4 })
// @ts-expect-error no such event
primary.on('exit', () => {})
