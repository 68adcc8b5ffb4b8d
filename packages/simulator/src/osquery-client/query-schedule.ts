import { createHash } from 'node:crypto'
import { isJsonObject } from './failure-contract.ts'
import type { JsonObject } from './failure-contract.ts'
import type { Platform } from '../platform.ts'
import { compareVersions } from '../sql/version-compare.ts'

const INTERVAL_SECONDS_MAX = 604_800

/** A scheduled query that applies to this agent. */
export interface ScheduledQuery {
  readonly name: string
  readonly sql: string
  readonly intervalSeconds: number
  readonly isSnapshot: boolean
  readonly logsRemoved: boolean
  readonly canBeDenylisted: boolean
}

/** Who asks: the facts by which an entry may exclude an agent. */
export interface ScheduleReader {
  readonly platform: Platform
  readonly agentVersion: string
  readonly hostIdentifier: string
  readonly warn: (message: string) => void
}

const POSIX: readonly Platform[] = ['darwin', 'linux']

function matchesPlatform(value: unknown, platform: Platform): boolean {
  if (typeof value !== 'string' || value.trim() === '') return true
  const names = value.split(',').map((name) => name.trim())
  return names.some(
    (name) =>
      name === platform ||
      name === 'all' ||
      name === 'any' ||
      (name === 'posix' && POSIX.includes(platform)),
  )
}

/** A number from 1 to 100 that stays the same for a host; osquery derives it from a hash likewise. */
function shardOf(hostIdentifier: string): number {
  return (createHash('sha1').update(hostIdentifier).digest().readUInt32BE(0) % 100) + 1
}

function isForAgent(entry: JsonObject, reader: ScheduleReader): boolean {
  if (!matchesPlatform(entry['platform'], reader.platform)) return false
  const version = entry['version']
  if (typeof version === 'string' && compareVersions(reader.agentVersion, version) < 0) return false
  const shard = Number(entry['shard'] ?? 100)
  return !(shard > 0 && shard < 100 && shardOf(reader.hostIdentifier) > shard)
}

function parseEntry(
  name: string,
  entry: unknown,
  reader: ScheduleReader,
): ScheduledQuery | undefined {
  if (!isJsonObject(entry)) return undefined
  const sql = entry['query']
  const intervalSeconds = Number(entry['interval'])
  if (typeof sql !== 'string' || sql === '') return undefined
  if (!(intervalSeconds > 0 && intervalSeconds <= INTERVAL_SECONDS_MAX)) {
    reader.warn(`Query has invalid interval: ${name}`)
    return undefined
  }
  if (!isForAgent(entry, reader)) return undefined
  return {
    name,
    sql,
    intervalSeconds,
    isSnapshot: entry['snapshot'] === true,
    logsRemoved: entry['removed'] !== false,
    canBeDenylisted: entry['denylist'] !== false,
  }
}

function parseEntries(prefix: string, source: unknown, reader: ScheduleReader): ScheduledQuery[] {
  if (!isJsonObject(source)) return []
  return Object.entries(source)
    .map(([name, entry]) => parseEntry(prefix + name, entry, reader))
    .filter((query) => query !== undefined)
}

/** The scheduled queries of a configuration, its packs included, that apply to this agent. */
export function parseSchedule(config: JsonObject, reader: ScheduleReader): ScheduledQuery[] {
  const queries = parseEntries('', config['schedule'], reader)
  const packs = isJsonObject(config['packs']) ? config['packs'] : {}
  for (const [name, pack] of Object.entries(packs)) {
    if (!isJsonObject(pack) || !isForAgent(pack, reader)) continue
    queries.push(...parseEntries(`pack_${name}_`, pack['queries'], reader))
  }
  return queries
}
