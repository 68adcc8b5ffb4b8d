/* What the demo prints: lines for people, one for each verified event, or JSON lines for machines. */
import { printLine, type CommandIo } from '../command-io.ts'
import type { FleetCounts } from './demo-fleet.ts'
import { formatLatency, toEventLine } from './event-line.ts'
import type { LatencySummary, TallySummary } from './event-tally.ts'
import type { VerifiedEvent } from './verified-event.ts'

/** Prints what happens. */
export interface DemoOutput {
  /** A step of the start or the end, while it takes its time. */
  step(text: string): void
  /** Where the service can be reached, and an API key that reads everything and manages streams. */
  started(baseUrl: string, key: string): void
  event(event: VerifiedEvent, deviceName: string | undefined): void
  status(counts: FleetCounts, tally: TallySummary): void
  ended(counts: FleetCounts, tally: TallySummary): void
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
    status: ({ devices, checkIns, results }, { verified, badSignatures }) =>
      print(
        `-- ${devices} devices; ${checkIns} check-ins, ${results} results; verified: push ${verified.push}, poll ${verified.poll}; bad signatures ${badSignatures}`,
      ),
    ended({ devices, checkIns, results }, { verified, latency, badSignatures }) {
      print(`${devices} devices checked in ${checkIns} times and sent ${results} check results.`)
      for (const method of ['push', 'poll'] as const) {
        const times = formatLatency(latency[method])
        print(`Verified over ${method}: ${verified[method]} events (${times}).`)
      }
      print(
        `Bad signatures: ${badSignatures}. Latency runs from the change of a status to its verified event.`,
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
    ended: ({ devices, checkIns, results }, tally) =>
      print({
        type: 'summary',
        devices,
        check_ins: checkIns,
        results,
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
