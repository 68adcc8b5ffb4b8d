/*
 * What must be so where commits wait for no standby: the last ones before a takeover may be lost, and receivers are
 * told afterwards how every device is. What is stored must have been told in its order, as elsewhere.
 */
import { findUntold, mapValues, type Evidence, type Proof } from './proof.ts'
import type { Inbox } from './receivers.ts'

export function proveAllButLost({ changes, devices, inboxes }: Evidence): Proof {
  const byHost = Object.groupBy(changes, ({ host }) => host)
  const acknowledgedAnswers = devices.reduce((sum, device) => sum + device.acknowledgedCount, 0)
  // Answers pass and fail in turn: the one after a lost one finds what it says, and is no change.
  const lostAnswers = devices.reduce((sum, { acknowledgedCount, hostIdentifier }) => {
    const missing = acknowledgedCount - (byHost[hostIdentifier]?.length ?? 0)
    return sum + Math.ceil(missing / 2)
  }, 0)
  const txns = new Set(changes.map(({ txn }) => txn))
  const present = new Map(changes.map(({ deviceId, to }) => [deviceId, to]))
  return {
    acknowledgedAnswers,
    lostAnswers,
    statusChanges: changes.length,
    events: mapValues(inboxes, ({ sets }) => sets.length),
    repeatedEvents: mapValues(inboxes, ({ repeatedCount }) => repeatedCount),
    eventsOfLost: mapValues(inboxes, ({ sets }) => countForeign(sets, txns)),
    problems: Object.entries(inboxes).flatMap(([name, inbox]) =>
      [
        ...inbox.problems,
        ...findUntold(toFirst(inbox), changes),
        ...findOutdated(inbox, present),
      ].map((problem) => `${name}: ${problem}`),
    ),
  }
}

/**
 * What waits unsent, as far as the new primary knows, may have been sent with a number that is lost: it gets a new
 * `jti`.
 */
function toFirst(inbox: Inbox): Pick<Inbox, 'sets' | 'hasTxn'> {
  const known = new Set<string>()
  const sets = inbox.sets.filter(({ deviceId, txn }) => {
    const key = `${deviceId} ${txn}`
    return !known.has(key) && known.add(key)
  })
  return { sets, hasTxn: (txn) => inbox.hasTxn(txn) }
}

/** Events whose change is not stored: those of lost ones, and statements of what is so. */
function countForeign(sets: Inbox['sets'], txns: ReadonlySet<string>): number {
  return sets.filter(({ txn }) => !txns.has(txn)).length
}

/** Devices of which a receiver was last told something else than what is so. */
function findOutdated(inbox: Inbox, present: ReadonlyMap<string, string>): string[] {
  const told = inbox.lastWords()
  const outdated = [...present].filter(([deviceId, word]) => told.get(deviceId) !== word)
  return outdated.length === 0
    ? []
    : [`of ${outdated.length} devices something else was told last than what is so`]
}
