/* What can happen to devices, checks, groups, issues and live queries, as data that a seed yields. */
import fc from 'fast-check'

export const DEVICES = 10
export const CHECKS = 5
export const GROUPS = 3
export const PEOPLE = 3
const STATUSES = ['PASS', 'PASS', 'FAIL', 'FAIL', 'ERROR', 'UNKNOWN', 'INAPPLICABLE'] as const

const device = fc.nat(DEVICES - 1)
const group = fc.nat(GROUPS - 1)
const person = fc.nat(PEOPLE - 1)
const check = fc.nat(CHECKS - 1)
const status = fc.constantFrom(...STATUSES)
/** Which of the records of a kind that there are, counted from the newest. */
const recent = fc.nat(2)

const KINDS = {
  /** Several checks at once, as a device answers them; rows by primary key. */
  report: fc.record({
    device,
    results: fc.array(
      fc.record({ check, rows: fc.array(status, { minLength: 1, maxLength: 3 }) }),
      {
        minLength: 1,
        maxLength: CHECKS,
      },
    ),
  }),
  run_on_device: fc.record({ device, status }),
  run_on_person: fc.record({ person, status }),
  configure: fc.record({
    check,
    paused: fc.option(fc.boolean()),
    strategy: fc.option(
      fc.constantFrom('block_immediately', 'warn_then_block', 'notify_only', 'report_only'),
    ),
    targeted: fc.option(fc.subarray([0, 1])),
    excluded: fc.option(fc.subarray([1, 2])),
    blockingExcluded: fc.option(fc.subarray([0, 2])),
  }),
  join: fc.record({ device, group }),
  leave: fc.record({ device, group }),
  own: fc.record({ device, person: fc.option(person) }),
  ask_registration: fc.record({ device, person }),
  decide_registration: fc.record({ recent, status: fc.constantFrom('approved', 'denied') }),
  ask_exemption: fc.record({ device, person, isForFuture: fc.boolean() }),
  decide_exemption: fc.record({
    recent,
    status: fc.constantFrom('approved', 'denied', 'open', 'withdrawn'),
    hours: fc.option(fc.integer({ min: 1, max: 48 })),
  }),
  unregister: fc.record({ device }),
  delete: fc.record({ device, isCancelled: fc.boolean() }),
  ask: fc.record({ devices: fc.option(fc.uniqueArray(device, { minLength: 1, maxLength: 5 })) }),
  answer: fc.record({ device, recent, isError: fc.boolean(), isOutdated: fc.boolean() }),
  ask_anew: fc.record({ recent, isPublished: fc.boolean() }),
  remove_campaign: fc.record({ recent }),
  wait: fc.record({ hours: fc.integer({ min: 1, max: 72 }) }),
}

const WEIGHTS: Readonly<Record<keyof typeof KINDS, number>> = {
  report: 24,
  run_on_device: 5,
  run_on_person: 5,
  configure: 4,
  join: 6,
  leave: 4,
  own: 4,
  ask_registration: 2,
  decide_registration: 2,
  ask_exemption: 5,
  decide_exemption: 5,
  unregister: 2,
  delete: 3,
  ask: 2,
  answer: 12,
  ask_anew: 2,
  remove_campaign: 1,
  wait: 2,
}

type ValueOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never

/** One thing that happens. */
export type Operation = {
  [Kind in keyof typeof KINDS]: { readonly kind: Kind } & ValueOf<(typeof KINDS)[Kind]>
}[keyof typeof KINDS]

/** Any operation, reports and answers most often. */
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  ...Object.entries(KINDS).map(([kind, values]) => ({
    weight: WEIGHTS[kind as keyof typeof KINDS],
    arbitrary: (values as fc.Arbitrary<object>).map((each) => ({ kind, ...each }) as Operation),
  })),
)

/** So many operations, the same for the same seed. */
export function listOperations(count: number, seed: number): Operation[] {
  return fc.sample(operation, { numRuns: count, seed })
}
