/*
 * How the demo is told: lines for people, one for each verified event, or JSON lines for machines.
 */
import { printLine, type CommandIo } from '../command-io.ts'
import type { FleetCounts } from './demo-fleet.ts'
import { formatLatency, toEventLine } from './event-line.ts'
import type { LatencySummary, TallySummary } from './event-tally.ts'
import type { VerifiedEvent } from './verified-event.ts'

/** What the demo has come to at a moment. */
export interface DemoSnapshot {
  readonly deviceCount: number
  readonly blockedCount: number
  readonly counts: FleetCounts
  readonly tally: TallySummary
  /** What is amiss. */
  readonly notice: string | undefined
}

/** Prints what happens. */
export interface DemoOutput {
  /** A step of the start or the end, while it takes its time. */
  step(text: string): void
  /** Where the service can be reached, and an API key that reads everything and manages streams. */
  started(baseUrl: string, key: string): void
  event(event: VerifiedEvent, deviceName: string | undefined): void
  status(snapshot: DemoSnapshot): void
  ended(snapshot: DemoSnapshot): void
}

/** Chooses the form that the flags ask for. */
export function createDemoOutput(io: CommandIo, isJson: boolean): DemoOutput {
  return isJson
    ? createJsonOutput((value) => printLine(io, JSON.stringify(value)))
    : createLineOutput((line) => printLine(io, line))
}

/** Command lines that work as they are. */
function toCurlLines(baseUrl: string, key: string): string[] {
  const withKey = `curl -H 'Authorization: Bearer ${key}'`
  return [
    `curl ${baseUrl}/.well-known/ssf-configuration`,
    `${withKey} '${baseUrl}/devices?per_page=3'`,
    `${withKey} ${baseUrl}/ssf_streams`,
  ]
}

/** The addresses, the key and what to try, every one on a line of its own. */
export function toGuideLines(baseUrl: string, key: string): string[] {
  return [
    `Service      ${baseUrl}`,
    `API docs     ${baseUrl}/docs`,
    `SSF          ${baseUrl}/.well-known/ssf-configuration`,
    `API key      ${key}`,
    '',
    'Try it:',
    ...toCurlLines(baseUrl, key),
    '',
  ]
}

function createLineOutput(print: (line: string) => void): DemoOutput {
  return {
    step: print,
    started: (baseUrl, key) => toGuideLines(baseUrl, key).forEach(print),
    event: (event, deviceName) => print(toEventLine(event, deviceName)),
    status({ deviceCount, blockedCount, counts, tally, notice }) {
      const status = `-- ${deviceCount} devices, ${blockedCount} blocked; ${counts.checkIns} check-ins, ${counts.results} results; verified: push ${tally.verified.push}, poll ${tally.verified.poll}; bad signatures ${tally.badSignatures}`
      print(notice === undefined ? status : `${status}; ${notice}`)
    },
    ended({ tally, counts, deviceCount }) {
      print(
        `${deviceCount} devices checked in ${counts.checkIns} times and sent ${counts.results} check results.`,
      )
      for (const method of ['push', 'poll'] as const) {
        const latency = formatLatency(tally.latency[method])
        print(`Verified over ${method}: ${tally.verified[method]} events (${latency}).`)
      }
      print(
        `Bad signatures: ${tally.badSignatures}. Latency runs from the change of a status to its verified event.`,
      )
    },
  }
}

function createJsonOutput(print: (value: object) => void): DemoOutput {
  return {
    step: () => undefined,
    started: (baseUrl, key) =>
      print({
        type: 'started',
        base_url: baseUrl,
        docs_url: `${baseUrl}/docs`,
        well_known_url: `${baseUrl}/.well-known/ssf-configuration`,
        key,
        curl: toCurlLines(baseUrl, key),
      }),
    event: (event) =>
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
      }),
    status: () => undefined,
    ended: ({ tally, counts, deviceCount }) =>
      print({
        type: 'summary',
        devices: deviceCount,
        check_ins: counts.checkIns,
        results: counts.results,
        verified: tally.verified,
        bad_signatures: tally.badSignatures,
        other_refusals: tally.otherRefusals,
        latency_ms: { push: toJson(tally.latency.push), poll: toJson(tally.latency.poll) },
      }),
  }
}

function toJson({ p50Ms, p99Ms }: LatencySummary) {
  return { p50: p50Ms ?? null, p99: p99Ms ?? null }
}
