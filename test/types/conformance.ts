// Holds src/ to index.d.ts, both ways: what is declared exists with that shape, and nothing exists
// undeclared. Compiled only, never run.

import { expectTypeOf } from 'expect-type'
import type * as Declared from '../../index.js'
import type { MEMBER_DEFAULTS } from '../../src/core/options/member-options.js'
import { DEFAULTS, type resolveOptions } from '../../src/core/options/options.js'
import type { GarbageCollection } from '../../src/core/process/garbage-collection.js'
import type { LoopDelay } from '../../src/core/process/loop-delay.js'
import type { Memory } from '../../src/core/process/memory.js'
import type { OUTCOMES } from '../../src/core/request/outcome.js'
import type { takeSnapshot } from '../../src/core/snapshot/snapshot.js'
import type { Started } from '../../src/feature-list.js'

import actual = require('../../src/index.js')

// Exports.
export const declared: Omit<typeof Declared, 'clusterPrimary' | 'createSpillway'> = actual
expectTypeOf<keyof typeof actual>().toEqualTypeOf<keyof typeof Declared>()

// Members of an instance, and of the error. `Symbol.dispose` is put on at run time, where the language has
// it.
type Instance = Omit<Declared.Spillway, typeof Symbol.dispose>
type Actual = ReturnType<typeof actual.createSpillway>
export const createSpillway: (options?: Declared.SpillwayOptions) => Instance = actual.createSpillway
expectTypeOf<keyof Actual>().toEqualTypeOf<keyof Instance>()
expectTypeOf<Parameters<typeof actual.createSpillway>>().toEqualTypeOf<
  Parameters<typeof Declared.createSpillway>
>()
expectTypeOf<Actual['handler']>().toEqualTypeOf<Declared.Spillway['handler']>()
expectTypeOf<Actual['snapshot']>().toEqualTypeOf<Declared.Spillway['snapshot']>()
expectTypeOf<Actual['fleetSnapshot']>().toEqualTypeOf<Declared.Spillway['fleetSnapshot']>()
expectTypeOf<Actual['pool']>().toEqualTypeOf<Declared.Spillway['pool']>()
expectTypeOf<Actual['close']>().toEqualTypeOf<Declared.Spillway['close']>()
expectTypeOf<keyof InstanceType<typeof actual.SpillwayError>>().toEqualTypeOf<keyof Declared.SpillwayError>()
expectTypeOf<ConstructorParameters<typeof actual.SpillwayError>>().toEqualTypeOf<
  ConstructorParameters<typeof Declared.SpillwayError>
>()
expectTypeOf<InstanceType<typeof actual.SpillwayError>['code']>().toEqualTypeOf<Declared.ErrorCode>()

// Sections of features.
type SectionOf<
  Name extends 'bulkheads' | 'deadlines' | 'outgoing' | 'pools' | 'releases' | 'sockets' | 'stalls',
> = ReturnType<Started[Name]['section']>
expectTypeOf<SectionOf<'bulkheads'>>().toExtend<Declared.Snapshot['bulkheads']>()
expectTypeOf<SectionOf<'deadlines'>>().toExtend<Declared.Snapshot['deadlines']>()
expectTypeOf<SectionOf<'outgoing'>>().toExtend<Declared.Snapshot['outgoing']>()
expectTypeOf<SectionOf<'pools'>>().toExtend<Declared.Snapshot['pools']>()
expectTypeOf<SectionOf<'releases'>>().toExtend<Declared.Snapshot['releases']>()
expectTypeOf<SectionOf<'sockets'>>().toExtend<Declared.Snapshot['sockets']>()
expectTypeOf<SectionOf<'stalls'>>().toExtend<Declared.Snapshot['stalls']>()

type Primary = ReturnType<typeof actual.clusterPrimary>
export const clusterPrimary: typeof Declared.clusterPrimary = actual.clusterPrimary
expectTypeOf<keyof Primary>().toEqualTypeOf<keyof Declared.ClusterPrimary>()
expectTypeOf<Actual['listen']>().toEqualTypeOf<Declared.Spillway['listen']>()

// Options of members.
type MemberKeys = { [Member in keyof typeof MEMBER_DEFAULTS]: keyof (typeof MEMBER_DEFAULTS)[Member] }
expectTypeOf<MemberKeys>().toEqualTypeOf<{
  readonly attach: keyof Declared.AttachOptions
  readonly agent: keyof Declared.AgentOptions
  readonly sockets: keyof Declared.SocketsOptions
  readonly listen: keyof Declared.ListenOptions
  readonly 'health.check': keyof Declared.HealthCheckOptions
  readonly limit: keyof Declared.LimitOptions
  readonly pool: keyof Declared.PoolOptions
  readonly clusterPrimary: keyof Declared.ClusterPrimaryOptions
}>()

// Options: the defaults have every key that is declared, and no other, and are values it may have.
type Defaults = typeof DEFAULTS
export const defaults: Declared.ResolvedOptions = DEFAULTS
expectTypeOf<keyof Defaults>().toEqualTypeOf<keyof Declared.SpillwayOptions>()
expectTypeOf<keyof Defaults>().toEqualTypeOf<keyof Declared.ResolvedOptions>()
expectTypeOf<Exclude<keyof Defaults['endpoints'], 'allow'>>().toEqualTypeOf<Declared.HandlerName>()

/** By group, the keys in it; an option without a group has none. */
type GroupKeys<Options> = {
  [Group in keyof Defaults & keyof Options]: Defaults[Group] extends object
    ? keyof Exclude<Options[Group], false | undefined>
    : never
}
expectTypeOf<GroupKeys<Defaults>>().toEqualTypeOf<GroupKeys<Declared.SpillwayOptions>>()
expectTypeOf<GroupKeys<Defaults>>().toEqualTypeOf<GroupKeys<Declared.ResolvedOptions>>()
expectTypeOf<Parameters<typeof resolveOptions>[0]>().toEqualTypeOf<
  Parameters<typeof Declared.createSpillway>[0]
>()
expectTypeOf<ReturnType<typeof resolveOptions>>().toEqualTypeOf<Declared.ResolvedOptions>()

// Snapshot: the keys that src/ takes from lists.
expectTypeOf<ReturnType<typeof takeSnapshot>>().toEqualTypeOf<Declared.Snapshot>()
expectTypeOf<(typeof OUTCOMES)[number]>().toEqualTypeOf<Declared.Outcome>()
type Collections = ReturnType<InstanceType<typeof GarbageCollection>['sample']>
expectTypeOf<Collections['kinds'][number]>().toEqualTypeOf<Declared.CollectionKind>()
type Runtime = Declared.RuntimeSnapshot
expectTypeOf<keyof ReturnType<InstanceType<typeof LoopDelay>['sample']>>().toEqualTypeOf<
  keyof Runtime['loop']['delayMs']
>()
type Space = ReturnType<InstanceType<typeof Memory>['sample']>['spaces'][number]
expectTypeOf<Readonly<Space>>().toEqualTypeOf<Declared.HeapSpaceSnapshot>()
