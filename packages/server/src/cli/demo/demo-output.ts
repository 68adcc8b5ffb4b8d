/* What the demo prints: lines for people, one for each verified event, or JSON lines for machines. */
import { printLine, type CommandIo } from '../command-io.ts'
import type { FleetCounts } from './demo-fleet.ts'
import type { LatencySummary, TallySummary } from './event-tally.ts'
import { METHODS, type VerifiedEvent } from './verified-event.ts'

/** Something that is printed, in both forms; JSON lines leave out what has none. */
export interface DemoMessage {
  readonly lines: readonly string[]
  readonly json?: object
}

/** Chooses the form that the flags ask for. */
export function createDemoPrinter(io: CommandIo, isJson: boolean): (message: DemoMessage) => void {
  return ({ lines, json }) => {
    const shown = json === undefined ? [] : [JSON.stringify(json)]
    for (const line of isJson ? shown : lines) printLine(io, line)
  }
}

/**
 * Where the service can be reached, a link that opens the console once, an application to sign in to, and an API key
 * that reads everything and manages streams.
 */
export function describeStart(
  baseUrl: string,
  {
    key,
    consoleUrl,
    signInUrl,
  }: { readonly key: string; readonly consoleUrl: string; readonly signInUrl: string },
): DemoMessage {
  const withKey = `curl -H 'Authorization: Bearer ${key}'`
  const docs_url = `${baseUrl}/docs`
  const well_known_url = `${baseUrl}/.well-known/ssf-configuration`
  const curl = [
    `curl ${well_known_url}`,
    `${withKey} '${baseUrl}/devices?per_page=3'`,
    `${withKey} ${baseUrl}/ssf_streams`,
  ]
  return {
    lines: [
      `Service      ${baseUrl}`,
      `Console      ${consoleUrl}`,
      `Sign in      ${signInUrl}  as somebody of the fleet: blocked, fixed, through`,
      `API docs     ${docs_url}`,
      `SSF          ${well_known_url}`,
      `API key      ${key}`,
      '',
      'Try it:',
      ...curl,
      '',
    ],
    json: {
      type: 'started',
      base_url: baseUrl,
      console_url: consoleUrl,
      sign_in_url: signInUrl,
      docs_url,
      well_known_url,
      key,
      curl,
    },
  }
}

/** A verified event. Control characters are shown as `?`: names come from devices. */
export function describeEvent(event: VerifiedEvent, deviceName: string | undefined): DemoMessage {
  const { deviceId, latencyMs, method, receivedAtMs, previousStatus, currentStatus, kind } = event
  const name = deviceName ?? (deviceId === undefined ? '-' : `#${deviceId}`)
  const isChange = previousStatus !== undefined && currentStatus !== undefined
  const change = isChange ? `${previousStatus} → ${currentStatus}` : kind
  const latency = latencyMs === undefined ? '' : `  ${latencyMs} ms`
  const parts = [
    new Date(receivedAtMs).toTimeString().slice(0, 8),
    method,
    // Without the domain that all devices share.
    name.replace(/\.example\.com$/, '').padEnd(20),
    `${change}${latency}  signature verified`,
  ]
  return {
    lines: [parts.join('  ').replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')],
    json: {
      type: 'event',
      received_at: new Date(receivedAtMs).toISOString(),
      method,
      jti: event.jti,
      kind,
      device_id: deviceId ?? null,
      previous_status: previousStatus ?? null,
      current_status: currentStatus ?? null,
      latency_ms: latencyMs ?? null,
    },
  }
}

/** What has happened so far. */
export function describeStatus(
  { devices, checkIns, results }: FleetCounts,
  { verified, badSignatures }: TallySummary,
): DemoMessage {
  const line = `-- ${devices} devices; ${checkIns} check-ins, ${results} results; verified: push ${verified.push}, poll ${verified.poll}; bad signatures ${badSignatures}`
  return { lines: [line] }
}

/** What has happened in all. */
export function describeEnd(
  { devices, checkIns, results }: FleetCounts,
  { verified, latency, badSignatures, otherRefusals }: TallySummary,
): DemoMessage {
  const verifiedOver = METHODS.map(
    (method) =>
      `Verified over ${method}: ${verified[method]} events (${formatLatency(latency[method])}).`,
  )
  return {
    lines: [
      `${devices} devices checked in ${checkIns} times and sent ${results} check results.`,
      ...verifiedOver,
      `Bad signatures: ${badSignatures}. Latency runs from the change of a status to its verified event.`,
    ],
    json: {
      type: 'summary',
      devices,
      check_ins: checkIns,
      results,
      verified,
      bad_signatures: badSignatures,
      other_refusals: otherRefusals,
      latency_ms: { push: toJson(latency.push), poll: toJson(latency.poll) },
    },
  }
}

function formatLatency({ p50Ms, p99Ms }: LatencySummary): string {
  if (p50Ms === undefined || p99Ms === undefined) return 'no latency yet'
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms`
}

function toJson({ p50Ms, p99Ms }: LatencySummary) {
  return { p50: p50Ms ?? null, p99: p99Ms ?? null }
}
