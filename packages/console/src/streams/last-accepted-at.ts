import type { StreamHealth } from '../api/generated/types.gen.ts'

/** What tells when the receiver accepted an event. */
type Acceptances = Pick<StreamHealth, 'last_success_at'> & {
  readonly signing_keys: readonly Pick<StreamHealth['signing_keys'][number], 'last_accepted_at'>[]
}

/** When the receiver last accepted an event. One that fetches them shows it by the keys alone that it has accepted. */
export function lastAcceptedAt({
  last_success_at: at,
  signing_keys: keys,
}: Acceptances): string | null {
  const times = [at, ...keys.map((key) => key.last_accepted_at)].filter((time) => time !== null)
  return times.toSorted().at(-1) ?? null
}
