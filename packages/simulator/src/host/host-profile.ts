/**
 * The machine this runs on as a device: rows about it, read once and refreshed now and then. It only
 * reads, waits for nothing long, and shows less where something cannot be read.
 */
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import si from 'systeminformation'
import { DARWIN_COLLECTORS } from './darwin-commands.ts'
import { LINUX_COMMAND_COLLECTORS } from './linux-commands.ts'
import { LINUX_FILE_COLLECTORS } from './linux-files.ts'
import { systemCollectors } from './system-rows.ts'
import type { AgentTables } from '../osquery-client/agent-tables.ts'
import type { Platform } from '../platform.ts'
import { createPlatformDatabase } from '../sql/platform-database.ts'
import type { TableRows } from '../sql/platform-database.ts'

const COLLECT_MS_MAX = 20_000

export interface HostProfile {
  readonly platform: Platform
  /** The hardware UUID, or a stable stand-in on machines that show none. */
  readonly hostIdentifier: string
  readonly tables: AgentTables
  /** Reads the machine again. Never rejects. */
  refresh(): Promise<void>
  close(): void
}

type Collector = () => Promise<TableRows>

function hostPlatform(): Platform {
  if (process.platform === 'darwin') return 'darwin'
  return process.platform === 'win32' ? 'windows' : 'linux'
}

const PLATFORM_COLLECTORS: Readonly<Record<Platform, readonly Collector[]>> = {
  darwin: DARWIN_COLLECTORS,
  linux: [...LINUX_FILE_COLLECTORS, ...LINUX_COMMAND_COLLECTORS],
  windows: [],
}

function within<Value>(promise: Promise<Value>, ms: number, fallback: Value): Promise<Value> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(fallback), ms)
    timer.unref()
    promise.then(resolve, () => resolve(fallback)).finally(() => clearTimeout(timer))
  })
}

async function identify(): Promise<string> {
  const uuids = await within(si.uuid(), COLLECT_MS_MAX, undefined)
  const uuid = uuids?.hardware ?? ''
  if (/^[0-9a-f-]{36}$/i.test(uuid)) return uuid.toUpperCase()
  const hex = createHash('sha256').update(`host:${hostname()}`).digest('hex').toUpperCase()
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-')
}

/** Reads the machine and makes its profile. Takes some seconds at most; never rejects. */
export async function createHostProfile(
  nowMs: () => number = () => Date.now(),
): Promise<HostProfile> {
  const platform = hostPlatform()
  const hostIdentifier = await identify()
  const database = createPlatformDatabase({ platform, nowMs })
  const node = database.addNode({})
  const collectors: Collector[] = [
    ...systemCollectors(platform, hostIdentifier, nowMs),
    ...PLATFORM_COLLECTORS[platform],
  ]

  async function collect(collector: Collector): Promise<void> {
    const attempt = Promise.resolve().then(collector)
    const tables = await within<TableRows>(attempt, COLLECT_MS_MAX, {})
    for (const [table, rows] of Object.entries(tables)) database.replaceRows(node, table, rows)
  }

  async function refresh(): Promise<void> {
    await Promise.all(collectors.map((collector) => collect(collector)))
  }

  await refresh()
  return {
    platform,
    hostIdentifier,
    tables: database.tablesOf(node),
    refresh,
    close: () => database.close(),
  }
}
