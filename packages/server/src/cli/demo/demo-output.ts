/*
 * How the demo is told: a view that is redrawn in a terminal, lines elsewhere, JSON lines for machines.
 */
import { createProgress, printLine, type CommandIo } from '../command-io.ts'
import { toGuideLines, type DemoGuide } from './demo-guide.ts'
import { describeEvent, formatClock, formatLatency, renderDemo, shortName } from './render-demo.ts'
import type { DemoSnapshot } from './render-demo.ts'
import { span, toText } from './styled-text.ts'
import { openTerminalScreen } from './terminal-screen.ts'
import type { VerifiedEvent } from './verified-event.ts'

/** Told of everything that happens, in this order: steps, the guide, events and looks, the end. */
export interface DemoOutput {
  /** A step of the start or the end, while it takes its time. */
  step(text: string): void
  started(guide: DemoGuide, readSnapshot: () => DemoSnapshot): void
  event(event: VerifiedEvent): void
  /** Something may have changed that is not an event. */
  refreshed(): void
  /** Gives the terminal back; steps and the end follow. */
  closeView(): void
  ended(snapshot: DemoSnapshot): void
  /** Nothing follows. */
  finished(): void
}

const FRAME_MS = 100
const CLOCK_MS = 500
const STATUS_LINE_MS = 10_000

/** Chooses the form that suits the flags and the standard output. */
export function createDemoOutput(io: CommandIo, isJson: boolean): DemoOutput {
  if (isJson) return createJsonOutput(io)
  return io.stdout.isTTY ? createTerminalOutput(io) : createLineOutput(io)
}

function createTerminalOutput(io: CommandIo): DemoOutput {
  const progress = createProgress(io)
  const isColoured = (io.environment['NO_COLOR'] ?? '') === ''
  let close: () => void = () => undefined
  let requestDraw: () => void = () => undefined
  return {
    step: (text) => progress.update(text),
    started(guide, readSnapshot) {
      progress.end()
      for (const line of toGuideLines(guide)) printLine(io, line)
      let isDue = false
      requestDraw = () => (isDue = true)
      const screen = openTerminalScreen(io.stdout, isColoured, () => requestDraw())
      const draw = () => screen.draw(renderDemo(readSnapshot(), screen.size))
      const frames = setInterval(() => {
        if (isDue) draw()
        isDue = false
      }, FRAME_MS)
      const clock = setInterval(() => requestDraw(), CLOCK_MS)
      draw()
      close = () => {
        clearInterval(frames)
        clearInterval(clock)
        screen.close()
      }
    },
    event: () => requestDraw(),
    refreshed: () => requestDraw(),
    closeView: () => close(),
    ended(snapshot) {
      progress.end()
      for (const line of describeEnd(snapshot)) printLine(io, line)
    },
    finished: () => progress.end(),
  }
}

function createLineOutput(io: CommandIo): DemoOutput {
  let readSnapshot: (() => DemoSnapshot) | undefined
  let timer: NodeJS.Timeout | undefined
  /** Events of devices that no look has shown yet: their names come with the next one. */
  let nameless: VerifiedEvent[] = []
  const print = (event: VerifiedEvent) => {
    const { deviceId } = event
    const name = deviceId === undefined ? undefined : readSnapshot?.().deviceName(deviceId)
    printLine(io, describeReceipt(event, name))
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
    closeView() {
      clearInterval(timer)
      flush()
    },
    ended(snapshot) {
      for (const line of describeEnd(snapshot)) printLine(io, line)
    },
    finished: () => undefined,
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
    closeView: () => undefined,
    ended({ tally, counts, devices }) {
      print({
        type: 'summary',
        devices: devices.length,
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
    finished: () => undefined,
  }
}

function describeReceipt(event: VerifiedEvent, deviceName: string | undefined): string {
  const device = shortName(
    deviceName ?? (event.deviceId === undefined ? '-' : `#${event.deviceId}`),
  )
  const latency = event.latencyMs === undefined ? '' : `  ${event.latencyMs} ms`
  const parts = [
    formatClock(event.receivedAtMs),
    event.method,
    device.padEnd(20),
    `${describeEvent(event)}${latency}  signature verified`,
  ]
  return toText([span(parts.join('  '))], false)
}

function describeStatus({ devices, counts, tally }: DemoSnapshot): string {
  const blocked = devices.filter(({ authState }) => authState === 'Blocked').length
  return `-- ${devices.length} devices, ${blocked} blocked; ${counts.checkIns} check-ins, ${counts.results} results; verified: push ${tally.verified.push}, poll ${tally.verified.poll}; bad signatures ${tally.badSignatures}`
}

function describeEnd({ tally, counts, devices }: DemoSnapshot): string[] {
  return [
    `${devices.length} devices checked in ${counts.checkIns} times and sent ${counts.results} check results.`,
    `Verified over push: ${tally.verified.push} events (${formatLatency(tally.latency.push)}).`,
    `Verified over poll: ${tally.verified.poll} events (${formatLatency(tally.latency.poll)}).`,
    `Bad signatures: ${tally.badSignatures}. Latency runs from the change of a status to its verified event.`,
  ]
}
