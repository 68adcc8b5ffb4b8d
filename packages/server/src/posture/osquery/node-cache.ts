/*
 * What this process knows of the devices that check in, so that a check-in with nothing to do touches
 * no database. Filled by one query per node key; told by the database when something changes; when it
 * could have missed that, everything is looked up again. Work that was handed out is remembered here
 * alone: a restart hands it out again, which is harmless.
 */
import { hash } from 'node:crypto'
import { isStillAhead, type Clock } from '../../platform/clock.ts'
import type { AgentSettings } from './agent-settings.ts'
import { nextRoundAtMs } from './check-schedule.ts'
import type { NodeFacts } from './node-store.ts'

/** The state of one enrolled device in this process. All times are milliseconds since the epoch. */
export interface NodeState {
  readonly deviceId: string
  nextRoundAtMs: number
  hasRefreshes: boolean
  /** Whether its owner may come at any time to fix something. */
  hasIssues: boolean
  /** Until when it is asked to poll quickly. */
  accelerateUntilMs: number
  /** Until when a round, or requested reruns, count as being worked on. */
  roundHeldUntilMs: number
  refreshHeldUntilMs: number
  /** When work was last handed out; undefined before. */
  askedAtMs: number | undefined
  /** Whether checks were handed out and nothing was written since, so that asking again says that they were lost. */
  isHandOutDoubtful: boolean
  /** How often in a row they were handed out so. */
  handOutsInVain: number
  /** How many requests in a row left before there was work to hand out to them. */
  readsLeft: number
  /** When the round before the one that was handed out had ended, by the database; before the first, none does. */
  roundBeforeMs: number
  /** Whether a round was handed out, and the device has neither answered nor asked again since. */
  isRoundAwaited: boolean
  /** Whether the facts must be read again before they are used. */
  isStale: boolean
}

export interface NodeCache {
  /** The state if it is known and fresh; no wait. */
  peek(nodeKey: string): NodeState | undefined
  /** The state behind a node key, looked up when it must be; undefined for a key that is not live. */
  find(nodeKey: string): Promise<NodeState | undefined>
  /**
   * The same state with facts that are fresh, looked up when they must be. Undefined when the device is not known
   * by it any more: whoever shows the node key again learns why.
   */
  refresh(state: NodeState): Promise<NodeState | undefined>
  /** Looks up a device, or `all`, again at its next request. */
  invalidate(deviceId: string): void
  /** What is known of a device has its last round; what is being looked up may not. */
  noteRound(deviceId: string): void
  /** How many devices are known. */
  count(): number
  /** Devices have issues from now on, or none any more. */
  noteIssues(deviceIds: readonly string[], hasIssues: boolean): void
}

export interface NodeCacheDependencies {
  readonly clock: Clock
  readonly settings: AgentSettings
  readonly findNode: (keyHash: Buffer) => Promise<NodeFacts | undefined>
}

/** More nodes than any process serves; the bound is for the memory. */
const NODES_MAX = 500_000
/** Keys that are not live never become so again; the bounds are for floods and restored databases. */
const UNKNOWN_KEYS_MAX = 20_000
const UNKNOWN_KEY_TTL_MS = 30_000

/** SHA-256 of a node key, by which it is stored. */
export function hashNodeKey(nodeKey: string): Buffer {
  return Buffer.from(toCacheKey(nodeKey), 'base64')
}

function toCacheKey(nodeKey: string): string {
  return hash('sha256', nodeKey, 'base64')
}

export function createNodeCache(deps: NodeCacheDependencies): NodeCache {
  const states = new NodeStates()
  const unknownUntilMs = new Map<string, number>()
  const lookups = new Map<string, Promise<NodeState | undefined>>()
  /** What look-ups under way may not have seen. */
  const notedIssues = new Map<string, boolean>()
  let invalidations = 0

  async function lookUp(cacheKey: string): Promise<NodeState | undefined> {
    const seenInvalidations = invalidations
    const facts = await deps.findNode(Buffer.from(cacheKey, 'base64'))
    if (facts === undefined) {
      states.forget(cacheKey)
      keepBounded(unknownUntilMs, UNKNOWN_KEYS_MAX)
      unknownUntilMs.set(cacheKey, deps.clock.now().getTime() + UNKNOWN_KEY_TTL_MS)
      return undefined
    }
    const state = toState(facts, states.get(cacheKey), deps)
    state.hasIssues = notedIssues.get(facts.deviceId) ?? facts.hasIssues
    // Something changed while the database was asked: what it said may be older than that.
    state.isStale = seenInvalidations !== invalidations
    states.set(cacheKey, state)
    return state
  }

  async function find(cacheKey: string): Promise<NodeState | undefined> {
    const known = states.findFresh(cacheKey)
    if (known !== undefined) return known
    const unknownUntil = unknownUntilMs.get(cacheKey) ?? 0
    const nowMs = deps.clock.now().getTime()
    if (isStillAhead(unknownUntil, nowMs, UNKNOWN_KEY_TTL_MS)) return undefined
    const running = lookups.get(cacheKey)
    if (running !== undefined) return running
    const lookup = lookUp(cacheKey).finally(() => {
      lookups.delete(cacheKey)
      if (lookups.size === 0) notedIssues.clear()
    })
    lookups.set(cacheKey, lookup)
    return lookup
  }

  return {
    peek: (nodeKey) => states.findFresh(toCacheKey(nodeKey)),
    find: (nodeKey) => find(toCacheKey(nodeKey)),
    async refresh(state) {
      const cacheKey = states.keyOf(state.deviceId)
      if (cacheKey === undefined || states.get(cacheKey) !== state) return undefined
      // One that runs already may have asked before the news came for which this one is made.
      if (state.isStale) await lookups.get(cacheKey)
      return find(cacheKey)
    },
    invalidate(deviceId) {
      invalidations += 1
      if (deviceId === 'all') {
        for (const state of states.all()) state.isStale = true
        unknownUntilMs.clear()
        return
      }
      const state = states.ofDevice(deviceId)
      if (state !== undefined) state.isStale = true
    },
    noteRound(deviceId) {
      if (lookups.size > 0) this.invalidate(deviceId)
    },
    count: () => states.size,
    noteIssues(deviceIds, hasIssues) {
      for (const deviceId of deviceIds) {
        const state = states.ofDevice(deviceId)
        if (state !== undefined) state.hasIssues = hasIssues
        if (lookups.size > 0) notedIssues.set(deviceId, hasIssues)
      }
    },
  }
}

/** What is known, by the hash of the node key and by device. */
class NodeStates {
  readonly #states = new Map<string, NodeState>()
  readonly #keysByDevice = new Map<string, string>()

  get(cacheKey: string): NodeState | undefined {
    return this.#states.get(cacheKey)
  }

  findFresh(cacheKey: string): NodeState | undefined {
    const state = this.#states.get(cacheKey)
    return state === undefined || state.isStale ? undefined : state
  }

  keyOf(deviceId: string): string | undefined {
    return this.#keysByDevice.get(deviceId)
  }

  ofDevice(deviceId: string): NodeState | undefined {
    return this.#states.get(this.keyOf(deviceId) ?? '')
  }

  get size(): number {
    return this.#states.size
  }

  all(): Iterable<NodeState> {
    return this.#states.values()
  }

  /** A device has one live key: whatever was known under another one has ended. */
  set(cacheKey: string, state: NodeState): void {
    const otherKey = this.keyOf(state.deviceId)
    if (otherKey !== undefined && otherKey !== cacheKey) this.#states.delete(otherKey)
    keepBounded(this.#states, NODES_MAX)
    this.#states.set(cacheKey, state)
    this.#keysByDevice.set(state.deviceId, cacheKey)
  }

  forget(cacheKey: string): void {
    const state = this.#states.get(cacheKey)
    this.#states.delete(cacheKey)
    if (state !== undefined && this.keyOf(state.deviceId) === cacheKey) {
      this.#keysByDevice.delete(state.deviceId)
    }
  }
}

function toState(
  facts: NodeFacts,
  known: NodeState | undefined,
  { settings }: NodeCacheDependencies,
): NodeState {
  const enrolledAtMs = facts.enrolledAt?.getTime() ?? 0
  const state: NodeState = known ?? {
    deviceId: facts.deviceId,
    nextRoundAtMs: 0,
    hasRefreshes: false,
    hasIssues: false,
    accelerateUntilMs: enrolledAtMs + settings.accelerateMs,
    roundHeldUntilMs: 0,
    refreshHeldUntilMs: 0,
    askedAtMs: undefined,
    isHandOutDoubtful: false,
    handOutsInVain: 0,
    readsLeft: 0,
    roundBeforeMs: Infinity,
    isRoundAwaited: false,
    isStale: false,
  }
  state.nextRoundAtMs = nextRoundAtMs(facts.deviceId, facts.checksRanAt, settings.checkIntervalMs)
  // Another process has received the round that this one had handed out. Its clock may differ.
  if ((facts.checksRanAt?.getTime() ?? 0) > state.roundBeforeMs) {
    state.roundHeldUntilMs = 0
    state.handOutsInVain = 0
  }
  // The reruns that are wanted may be others than those being worked on.
  if (facts.hasRefreshes) state.refreshHeldUntilMs = 0
  state.hasRefreshes = facts.hasRefreshes
  return state
}

function keepBounded(entries: Map<string, unknown>, sizeMax: number): void {
  const [oldest] = entries.size >= sizeMax ? entries.keys() : []
  if (oldest !== undefined) entries.delete(oldest)
}
