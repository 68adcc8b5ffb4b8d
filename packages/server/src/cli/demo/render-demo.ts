/*
 * The view of the demo as lines: pure, from what is known to what is shown in a terminal of a given
 * size. Drawing is in terminal-screen.ts.
 */
import { AUTH_STATES, type AuthState, type BoardDevice } from './device-board.ts'
import type { DemoGuide } from './demo-guide.ts'
import type { FleetCounts } from './demo-fleet.ts'
import type { LatencySummary, TallySummary } from './event-tally.ts'
import { cell, fitLine, lineWidth, span, type Line, type Style } from './styled-text.ts'
import type { VerifiedEvent } from './verified-event.ts'

/** Everything that the view shows. */
export interface DemoSnapshot {
  readonly guide: DemoGuide
  readonly elapsedMs: number
  /** Undefined when the demo runs until it is stopped. */
  readonly durationMs: number | undefined
  readonly devices: readonly BoardDevice[]
  readonly deviceName: (deviceId: string) => string | undefined
  readonly counts: FleetCounts
  readonly tally: TallySummary
  /** What is amiss at the moment. */
  readonly notice: string | undefined
}

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

const STATE_STYLES: Readonly<Record<AuthState, Style>> = {
  Good: 'good',
  Notified: 'notice',
  'Will Block': 'warning',
  Blocked: 'bad',
}

/** From here on, devices and events stand side by side. */
const WIDE_COLUMNS = 150
const EVENT_COLUMNS = 80
const EVENT_ROWS_MIN = 5
const EVENT_SHARE = 0.35
const BLANK: Line = []

/** Renders the whole view; it never has more lines than the terminal has rows, nor is it wider. */
export function renderDemo(snapshot: DemoSnapshot, size: ScreenSize): Line[] {
  const columns = Math.max(20, size.columns)
  const top = [...renderHeading(snapshot), BLANK]
  const guide = renderGuide(snapshot.guide, columns)
  const guideRows = guide.reduce((sum, line) => sum + rowsOf(line, columns), 0)
  const isGuideShown = size.rows - top.length - guideRows >= EVENT_ROWS_MIN + 6
  const bodyRows = size.rows - top.length - (isGuideShown ? guideRows : 0)
  const body = renderBody(snapshot, { columns, rows: Math.max(0, bodyRows) })
  const lines = [
    ...[...top, ...body].map((line) => fitLine(line, columns)),
    ...(isGuideShown ? guide : []),
  ]
  return isGuideShown ? lines : lines.slice(0, size.rows)
}

/** A line that is too wide goes on in the next row, and is still one line when it is copied. */
export function rowsOf(line: Line, columns: number): number {
  return Math.max(1, Math.ceil(lineWidth(line) / columns))
}

function renderHeading({ guide, elapsedMs, durationMs, ...snapshot }: DemoSnapshot): Line[] {
  const { tally, counts } = snapshot
  const time =
    durationMs === undefined
      ? formatTime(elapsedMs)
      : `${formatTime(elapsedMs)} of ${formatTime(durationMs)}`
  const signatures: Style = tally.badSignatures === 0 ? 'good' : 'bad'
  return [
    [
      span('Heliograph demo', 'accent'),
      span(`  ${time}  `),
      span(guide.baseUrl, 'bold'),
      span('  Ctrl-C ends', 'dim'),
    ],
    renderStates(snapshot.devices),
    [
      span('Events verified  ', 'dim'),
      span(`push ${tally.verified.push}   poll ${tally.verified.poll}   `, 'bold'),
      span(`bad signatures ${tally.badSignatures}`, signatures),
      ...(tally.otherRefusals > 0 ? [span(`   refused ${tally.otherRefusals}`, 'bad')] : []),
    ],
    [
      span('Latency          ', 'dim'),
      span(`push ${formatLatency(tally.latency.push)}   `),
      span(`poll ${formatLatency(tally.latency.poll)}   `),
      span('from status change to verified event', 'dim'),
    ],
    [
      span('Devices sent     ', 'dim'),
      span(
        `${formatCount(counts.checkIns)} check-ins, ${formatCount(counts.results)} check results`,
      ),
      ...(snapshot.notice === undefined ? [] : [span(`   ${snapshot.notice}`, 'warning')]),
    ],
  ]
}

function renderStates(devices: readonly BoardDevice[]): Line {
  const counts = AUTH_STATES.toReversed().map((state) => ({
    state,
    count: devices.filter(({ authState }) => authState === state).length,
  }))
  return [
    span(`${devices.length} devices`.padEnd(17), 'dim'),
    ...counts.map(({ state, count }) =>
      span(`${count} ${state}   `, count === 0 ? 'dim' : STATE_STYLES[state]),
    ),
  ]
}

function renderBody(snapshot: DemoSnapshot, size: ScreenSize): Line[] {
  const { columns, rows } = size
  if (columns >= WIDE_COLUMNS) {
    const left = columns - EVENT_COLUMNS
    const devices = renderDevices(snapshot.devices, { columns: left - 2, rows: rows - 1 })
    const events = renderEvents(snapshot, { columns: EVENT_COLUMNS, rows: rows - 1 })
    const height = Math.max(devices.length, events.length)
    const joined = Array.from({ length: height }, (_, row): Line => [
      ...fitLine(devices[row] ?? BLANK, left),
      ...(events[row] ?? BLANK),
    ])
    return [...joined, BLANK].slice(0, rows)
  }
  const eventRows = Math.max(EVENT_ROWS_MIN, Math.floor(rows * EVENT_SHARE))
  const events = renderEvents(snapshot, { columns, rows: eventRows - 1 })
  const devices = renderDevices(snapshot.devices, { columns, rows: rows - eventRows - 1 })
  return [...devices, BLANK, ...events, BLANK].slice(0, rows)
}

function renderDevices(devices: readonly BoardDevice[], { columns, rows }: ScreenSize): Line[] {
  const isFolded = devices.length > rows - 1
  const shown = devices.slice(0, Math.max(0, isFolded ? rows - 2 : rows - 1))
  const hidden = devices.slice(shown.length)
  const nameWidth = Math.min(26, Math.max(12, ...shown.map(({ name }) => name.length + 2)))
  const hasPlatform = columns >= 64
  const hasOwner = columns >= 84
  const lay = (texts: DeviceTexts): Line => [
    cell(texts.name, nameWidth, texts.nameStyle),
    span(' '),
    ...(hasPlatform ? [cell(texts.platform, 8)] : []),
    ...(hasOwner ? [cell(texts.owner, 17), span(' ')] : []),
    cell(texts.state, 11, texts.stateStyle),
    span(texts.issues, texts.issuesStyle),
  ]
  return [
    lay(DEVICE_HEADINGS),
    ...shown.map((device) => lay(toTexts(device))),
    ...(isFolded ? [[span(describeHidden(hidden), 'dim')]] : []),
  ].map((line) => fitLine(line, columns))
}

interface DeviceTexts {
  readonly name: string
  readonly nameStyle: Style
  readonly platform: string
  readonly owner: string
  readonly state: string
  readonly stateStyle: Style
  readonly issues: string
  readonly issuesStyle: Style
}

const DEVICE_HEADINGS: DeviceTexts = {
  name: 'DEVICE',
  nameStyle: 'dim',
  platform: 'SYSTEM',
  owner: 'OWNER',
  state: 'STATUS',
  stateStyle: 'dim',
  issues: 'WHAT IS WRONG',
  issuesStyle: 'dim',
}

function toTexts(device: BoardDevice): DeviceTexts {
  return {
    name: device.isThisMachine ? `* ${shortName(device.name)}` : shortName(device.name),
    nameStyle: device.isThisMachine ? 'bold' : 'plain',
    platform: device.platform,
    owner: device.owner === '' ? '-' : device.owner,
    state: device.authState,
    stateStyle: STATE_STYLES[device.authState],
    issues: device.openIssues.join(', ') + (device.isThisMachine ? '  (this machine)' : ''),
    issuesStyle: 'dim',
  }
}

function describeHidden(hidden: readonly BoardDevice[]): string {
  const counts = AUTH_STATES.map((state) => {
    const count = hidden.filter(({ authState }) => authState === state).length
    return count === 0 ? '' : `${count} ${state}`
  })
  return `… and ${hidden.length} more: ${counts.filter((text) => text !== '').join(', ')}`
}

function renderEvents(snapshot: DemoSnapshot, { columns, rows }: ScreenSize): Line[] {
  const heading = [
    cell('TIME', 9, 'dim'),
    cell('BY', 5, 'dim'),
    cell('DEVICE', 20, 'dim'),
    cell('SIGNED EVENT', 27, 'dim'),
    span('SINCE CHANGE', 'dim'),
  ]
  const { latest } = snapshot.tally
  const lines = latest
    .slice(0, Math.max(0, rows - 1))
    .map((event) => renderEvent(event, snapshot.deviceName))
  const waiting: Line[] =
    latest.length === 0 ? [[span('Waiting for the first events …', 'dim')]] : []
  return [heading, ...waiting, ...lines]
    .slice(0, Math.max(0, rows))
    .map((line) => fitLine(line, columns))
}

function renderEvent(event: VerifiedEvent, deviceName: DemoSnapshot['deviceName']): Line {
  const name =
    event.deviceId === undefined ? '-' : (deviceName(event.deviceId) ?? `#${event.deviceId}`)
  return [
    cell(formatClock(event.receivedAtMs), 9, 'dim'),
    cell(event.method, 5, event.method === 'push' ? 'accent' : 'notice'),
    cell(shortName(name), 19),
    span(' '),
    cell(describeEvent(event), 27, eventStyle(event)),
    span(event.latencyMs === undefined ? '-' : `${event.latencyMs} ms`),
    span('  ✓ signature', 'good'),
  ]
}

/** What an event says, in its own words. */
export function describeEvent({ previousStatus, currentStatus, kind }: VerifiedEvent): string {
  if (previousStatus === undefined || currentStatus === undefined) return kind
  return `${previousStatus} → ${currentStatus}`
}

function eventStyle({ currentStatus }: VerifiedEvent): Style {
  if (currentStatus === undefined) return 'plain'
  return currentStatus === 'compliant' ? 'good' : 'bad'
}

function renderGuide(guide: DemoGuide, columns: number): Line[] {
  const { wellKnownUrl, docsUrl, key, curlLines } = guide
  return [
    fitLine([span('─'.repeat(columns), 'dim')], columns),
    [span('API docs  ', 'dim'), span(docsUrl)],
    [span('SSF       ', 'dim'), span(wellKnownUrl)],
    [span('API key   ', 'dim'), span(key)],
    ...curlLines.map((line): Line => [span(line)]),
  ]
}

/** `p50 24 ms, p99 80 ms`, from the change of a status to the verified event. */
export function formatLatency({ p50Ms, p99Ms }: LatencySummary): string {
  if (p50Ms === undefined || p99Ms === undefined) return 'no latency yet'
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms`
}

/** Names of devices without the domain that they all share. */
export function shortName(name: string): string {
  return name.replace(/\.example\.com$/, '')
}

/** The time of day, in the time zone of the machine. */
export function formatClock(epochMs: number): string {
  const time = new Date(epochMs)
  return [time.getHours(), time.getMinutes(), time.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
