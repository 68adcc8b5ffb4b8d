/*
 * How the demo is told: lines for people, one for each verified event, or JSON lines for machines.
 */
import { printLine, type CommandIo } from '../command-io.ts'
import type { FleetCounts } from './demo-fleet.ts'
import { toGuideLines, type DemoGuide } from './demo-guide.ts'
import { formatLatency, toEventLine } from './event-line.ts'
import type { TallySummary } from './event-tally.ts'
import type { VerifiedEvent } from './verified-event.ts'

/** What the demo has come to at a moment. */
export interface DemoSnapshot {
  readonly deviceCount: number
  readonly blockedCount: number
  readonly deviceName: (deviceId: string) => string | undefined
  readonly counts: FleetCounts
  readonly tally: TallySummary
  /** What is amiss. */
  readonly notice: string | undefined
}

/** Told of everything that happens, in this order: steps, the guide, events and looks, the end. */
export interface DemoOutput {
  /** A step of the start or the end, while it takes its time. */
  step(text: string): void
  started(guide: DemoGuide, readSnapshot: () => DemoSnapshot): void
  event(event: VerifiedEvent): void
  /** The names of the devices have been read anew. */
  refreshed(): void
  /** No more events; steps and the end follow. Safe to call twice. */
  stopFollowing(): void
  ended(snapshot: DemoSnapshot): void
}

const STATUS_LINE_MS = 10_000

/** Chooses the form that the flags ask for. */
export function createDemoOutput(io: CommandIo, isJson: boolean): DemoOutput {
  return isJson ? createJsonOutput(io) : createLineOutput(io)
}

function createLineOutput(io: CommandIo): DemoOutput {
  let readSnapshot: (() => DemoSnapshot) | undefined
  let timer: NodeJS.Timeout | undefined
  /** Events of devices that no look has shown yet: their names come with the next one. */
  let nameless: VerifiedEvent[] = []
  const print = (event: VerifiedEvent) => {
    const { deviceId } = event
    const name = deviceId === undefined ? undefined : readSnapshot?.().deviceName(deviceId)
    printLine(io, toEventLine(event, name))
  }
  const flush = () => {
    for (const event of nameless) print(event)
    nameless = []
  }
  return {
    step: (text) => printLine(io, text),
    started(guide, read) {
      readSnapshot = read
      for (const line of toGuideLines(guide)) printLine(io, line)
      printLine(io, '')
      timer = setInterval(() => printLine(io, describeStatus(read())), STATUS_LINE_MS)
    },
    event(event) {
      const { deviceId } = event
      const isKnown = deviceId === undefined || readSnapshot?.().deviceName(deviceId) !== undefined
      if (isKnown && nameless.length === 0) print(event)
      else nameless.push(event)
    },
    refreshed: flush,
    stopFollowing() {
      clearInterval(timer)
      flush()
    },
    ended(snapshot) {
      for (const line of describeEnd(snapshot)) printLine(io, line)
    },
  }
}

function createJsonOutput(io: CommandIo): DemoOutput {
  const print = (value: object) => printLine(io, JSON.stringify(value))
  return {
    step: () => undefined,
    started({ baseUrl, docsUrl, wellKnownUrl, key, curlLines }) {
      print({
        type: 'started',
        base_url: baseUrl,
        docs_url: docsUrl,
        well_known_url: wellKnownUrl,
        key,
        curl: curlLines,
      })
    },
    event(event) {
      print({
        type: 'event',
        received_at: new Date(event.receivedAtMs).toISOString(),
        method: event.method,
        jti: event.jti,
        kind: event.kind,
        device_id: event.deviceId ?? null,
        previous_status: event.previousStatus ?? null,
        current_status: event.currentStatus ?? null,
        latency_ms: event.latencyMs ?? null,
      })
    },
    refreshed: () => undefined,
    stopFollowing: () => undefined,
    ended({ tally, counts, deviceCount }) {
      print({
        type: 'summary',
        devices: deviceCount,
        check_ins: counts.checkIns,
        results: counts.results,
        verified: tally.verified,
        bad_signatures: tally.badSignatures,
        other_refusals: tally.otherRefusals,
        latency_ms: {
          push: { p50: tally.latency.push.p50Ms ?? null, p99: tally.latency.push.p99Ms ?? null },
          poll: { p50: tally.latency.poll.p50Ms ?? null, p99: tally.latency.poll.p99Ms ?? null },
        },
      })
    },
  }
}

function describeStatus(snapshot: DemoSnapshot): string {
  const { deviceCount, blockedCount, counts, tally, notice } = snapshot
  const status = `-- ${deviceCount} devices, ${blockedCount} blocked; ${counts.checkIns} check-ins, ${counts.results} results; verified: push ${tally.verified.push}, poll ${tally.verified.poll}; bad signatures ${tally.badSignatures}`
  return notice === undefined ? status : `${status}; ${notice}`
}

function describeEnd({ tally, counts, deviceCount }: DemoSnapshot): string[] {
  return [
    `${deviceCount} devices checked in ${counts.checkIns} times and sent ${counts.results} check results.`,
    `Verified over push: ${tally.verified.push} events (${formatLatency(tally.latency.push)}).`,
    `Verified over poll: ${tally.verified.poll} events (${formatLatency(tally.latency.poll)}).`,
    `Bad signatures: ${tally.badSignatures}. Latency runs from the change of a status to its verified event.`,
  ]
}
