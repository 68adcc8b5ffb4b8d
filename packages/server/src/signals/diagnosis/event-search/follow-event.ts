/*
 * Follows what happened from its cause to its receivers: audit entries, changes of status, events, deliveries and
 * attempts, in their order, and where the trail ends without a delivery, why. Owns the steps and their words; what
 * is stored is read by event-trail-store.ts.
 */
import type { Kysely } from 'kysely'
import type { Clock } from '../../../platform/clock.ts'
import type { Sealer } from '../../../platform/secrets/sealed-box.ts'
import { timeOfUlid } from '../../../platform/ids.ts'
import { toDeviceOfChange } from '../../../posture/devices/to-device-of-change.ts'
import type { Schema } from '../../../schema/schema.ts'
import { deviceIdOf } from '../../dispatch/delivery-read.ts'
import { listStreams, type Stream } from '../../streams/stream-store.ts'
import { readSubjectFilter, type IsWanted } from '../../subjects/filter-events.ts'
import { listWebhooks, type WebhookRecord } from '../../webhooks/webhook-store.ts'
import type { DestinationKind } from '../deliveries/all-deliveries-read.ts'
import {
  findCauses,
  listAttempts,
  listDeliveriesOfCauses,
  listEntriesOfCauses,
  listTransitions,
  listWebhookEvents,
  ROWS_MAX,
  type FoundCause,
  type StatusTransition,
} from './event-trail-store.ts'
import { explainStreamSilence, explainWebhookSilence, type Missing } from './missing-deliveries.ts'
import type { EventQuery } from './parse-event-query.ts'
import { toSteps, type Evidence, type TrailStep } from './trail-steps.ts'

/** Whom nothing was queued for. */
export interface MissingDelivery extends Missing {
  readonly destination: {
    readonly type: DestinationKind
    readonly id: string
    readonly name: string
  } | null
  readonly about: string
}

/** One cause and what followed from it. */
export interface Trail {
  readonly txn: string
  readonly at: Date | null
  readonly steps: readonly TrailStep[]
  readonly missing: readonly MissingDelivery[]
}

export interface FollowedEvents {
  readonly foundBy: EventQuery['kind'] | null
  readonly trails: readonly Trail[]
  /** There is more than an answer holds. */
  readonly hasMore: boolean
}

export interface FollowDependencies {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly sealer: Pick<Sealer, 'open'>
}

/** What of a trail is shown to whoever asks. */
interface TrailView {
  /** Whose deliveries; the events too where webhooks are among them. */
  readonly kinds: readonly DestinationKind[]
  readonly showsAudit: boolean
  /** Types of events of which nothing is told. */
  readonly closedEvents: readonly string[]
}

/** Causes of one answer. */
const CAUSES_MAX = 20
/** Streams, and webhooks, that are asked why they have no delivery. */
const DESTINATIONS_MAX = 200
const MISSING_MAX = 200

/**
 * Follows what the first of these queries finds, as far as whoever asks may see it: what it may not see finds nothing.
 */
export async function followEvent(
  queries: readonly EventQuery[],
  view: TrailView,
  dependencies: FollowDependencies,
): Promise<FollowedEvents> {
  for (const query of queries) {
    const causes = await findCauses(dependencies.db, query, CAUSES_MAX + 1)
    const followed = await followCauses(causes.slice(0, CAUSES_MAX), view, dependencies)
    const hasMore = causes.length > CAUSES_MAX || followed.hasMore
    const trails = followed.trails.filter(({ steps }) => steps.length > 0)
    if (trails.length > 0) return { foundBy: query.kind, trails, hasMore }
  }
  return { foundBy: null, trails: [], hasMore: false }
}

/** Who could have been told. */
interface Destinations {
  readonly streams: readonly Stream[]
  readonly webhooks: readonly WebhookRecord[]
  readonly isWanted: IsWanted
}

async function followCauses(
  causes: readonly FoundCause[],
  view: TrailView,
  dependencies: FollowDependencies,
): Promise<Pick<FollowedEvents, 'trails' | 'hasMore'>> {
  if (causes.length === 0) return { trails: [], hasMore: false }
  const { db } = dependencies
  const { kinds } = view
  const evidence = await readEvidence(db, causes, view)
  const destinations = await readDestinations(kinds, evidence.transitions, dependencies)
  const trails = causes.map(({ txn }) => {
    const own = ofCause(evidence, txn)
    return {
      txn,
      at: timeOfUlid(txn) ?? null,
      steps: toSteps(own),
      missing: listMissing(own, destinations, kinds).slice(0, MISSING_MAX),
    }
  })
  const { entries, transitions, events, deliveries } = evidence
  const hasMore = [entries, transitions, events, deliveries].some(
    ({ length }) => length >= ROWS_MAX,
  )
  return { trails, hasMore }
}

async function readEvidence(
  db: Kysely<Schema>,
  causes: readonly FoundCause[],
  { kinds, showsAudit, closedEvents }: TrailView,
): Promise<Evidence> {
  const txns = causes.map(({ txn }) => txn)
  const asked = causes.flatMap(({ deviceIds }) => deviceIds ?? [])
  const isAsked = (id: string | null) => asked.length === 0 || id === null || asked.includes(id)
  const entries = (await listEntriesOfCauses(db, txns)).filter(
    ({ targetType: type, targetId: id }) => type !== 'device' || isAsked(id),
  )
  const ofEntries = entries.flatMap(({ targetType: type, targetId: id }) =>
    type === 'device' && id !== null && /^\d+$/.test(id) ? [id] : [],
  )
  const deviceIds = [...new Set([...asked, ...ofEntries])]
  const events = (await listWebhookEvents(db, txns)).filter(
    ({ objectType: type, objectId: id, eventType: event }) =>
      kinds.includes('webhook') &&
      !closedEvents.includes(event) &&
      (type !== 'device' || isAsked(id)),
  )
  const eventIds = new Set(events.map(({ eventId: id }) => id))
  const all = await listDeliveriesOfCauses(db, txns, kinds)
  const deliveries = all.filter((delivery) =>
    delivery.webhookId === null ? isAsked(deviceIdOf(delivery)) : eventIds.has(delivery.eventId),
  )
  const attempts = await listAttempts(
    db,
    deliveries.map(({ id }) => id),
  )
  return {
    entries: showsAudit ? entries : [],
    transitions: await listTransitions(db, txns, deviceIds),
    events,
    deliveries,
    attempts: Map.groupBy(attempts, ({ deliveryId: id }) => id),
  }
}

async function readDestinations(
  kinds: readonly DestinationKind[],
  transitions: readonly StatusTransition[],
  { db, clock, sealer }: FollowDependencies,
): Promise<Destinations> {
  const window = { afterId: undefined, limit: DESTINATIONS_MAX }
  const streams = kinds.includes('ssf_stream') ? await listStreams(db, window) : []
  const webhooks = kinds.includes('webhook') ? await listWebhooks(db, window, clock.now()) : []
  const changes = transitions.map((transition) => ({
    device: toDeviceOfChange({ ...transition, id: transition.deviceId }),
  }))
  return { streams, webhooks, isWanted: await readSubjectFilter(db, streams, changes, sealer) }
}

function ofCause(evidence: Evidence, txn: string): Evidence {
  const isOwn = (row: { readonly txn: string }) => row.txn === txn
  return {
    entries: evidence.entries.filter(isOwn),
    transitions: evidence.transitions.filter(isOwn),
    events: evidence.events.filter(isOwn),
    deliveries: evidence.deliveries.filter(isOwn),
    attempts: evidence.attempts,
  }
}

function listMissing(
  evidence: Evidence,
  destinations: Destinations,
  kinds: readonly DestinationKind[],
): MissingDelivery[] {
  const ofStreams = kinds.includes('ssf_stream') ? listUntoldStreams(evidence, destinations) : []
  const ofWebhooks = kinds.includes('webhook') ? listUntoldWebhooks(evidence, destinations) : []
  return [...ofStreams, ...ofWebhooks]
}

function listUntoldStreams(
  { deliveries, transitions }: Evidence,
  { isWanted, streams }: Destinations,
): MissingDelivery[] {
  const told = new Set(deliveries.map((own) => `${own.streamId ?? ''} ${deviceIdOf(own) ?? ''}`))
  return transitions.flatMap((transition): MissingDelivery[] => {
    const { deviceId, fromCompliance, name, occurredAt, toCompliance } = transition
    const about = `the status of ${name}`
    if (fromCompliance === toCompliance) {
      const reason = `Streams are told when compliance changes; it stayed \`${toCompliance}\`.`
      return [{ destination: null, about, rule: 'word_unchanged', reason }]
    }
    const device = toDeviceOfChange({ ...transition, id: deviceId })
    const change = { device, occurredAt, isCompliant: toCompliance === 'compliant' }
    return streams
      .filter(({ id }) => !told.has(`${id} ${deviceId}`))
      .map((stream) => ({
        ...explainStreamSilence(stream, change, isWanted),
        destination: { type: 'ssf_stream', id: stream.id, name: stream.name },
        about,
      }))
  })
}

function listUntoldWebhooks(
  { deliveries, events, transitions }: Evidence,
  { webhooks }: Destinations,
): MissingDelivery[] {
  if (events.length === 0 && transitions.length > 0) {
    const reason = 'No webhook asked for anything of what happened.'
    return [{ destination: null, about: 'the event', rule: 'nobody_subscribed', reason }]
  }
  const told = new Set(deliveries.map((own) => `${own.webhookId ?? ''} ${own.eventId}`))
  return events.flatMap((event) =>
    webhooks
      .filter(({ id }) => !told.has(`${id} ${event.eventId}`))
      .map((webhook) => ({
        ...explainWebhookSilence(webhook, event),
        destination: { type: 'webhook' as const, id: webhook.id, name: webhook.name },
        about: `the event ${event.eventType}`,
      })),
  )
}
