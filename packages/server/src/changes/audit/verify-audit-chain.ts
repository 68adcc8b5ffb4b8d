/*
 * Proves the audit log: every hash of the chain anew, the nodes of the tree over it, and what checkpoints say
 * that was signed. Owns what is wrong with a log; where checkpoints come from is for the caller.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { CUT_ACTION, hashEntry, toCanonicalText } from './audit-entry.ts'
import { toAuditFields } from './audit-store.ts'
import type { Checkpoint } from './checkpoints/checkpoint.ts'
import {
  countUnchainedEntries,
  findEntryBesideChain,
  getAuditChain,
  isCutUnchained,
  listChain,
  type AuditChain,
  type ChainLink,
  type UnchainedEntries,
} from './chain/chain-store.ts'
import { readFrontier, TILE_HEIGHT, type TreeFrontier, type TreeNode } from './tree/merkle-tree.ts'
import { createTreeSource, listSubtrees } from './tree/tree-store.ts'

/** What the verification of the audit chain found. */
export type ChainVerdict = WholeChain | BrokenChain

interface WholeChain extends Proven {
  readonly isWhole: true
  /** The hash of the last entry of the chain. */
  readonly head: string
  /** Entries that wait for their place in the chain, as they do for a moment after they are written. */
  readonly unchained: UnchainedEntries
  /** How many entries were cut under a checkpoint, and when; null when none were. */
  readonly cut: { readonly entryCount: number; readonly at: Date | null } | null
}

interface BrokenChain extends Proven {
  readonly isWhole: false
  /** The number of the first entry that does not fit; null where it is a checkpoint that does not. */
  readonly sequence: string | null
  readonly problem: string
}

interface Proven {
  /** The entries that were proven. */
  readonly entryCount: number
  /** The checkpoints that say the same. */
  readonly checkpointCount: number
  /** When the last of them was signed. */
  readonly latestCheckpointAt: Date | null
  /** Checkpoints that end in entries which were cut: they prove nothing any more. */
  readonly outdatedCheckpointCount: number
}

export interface VerifyOptions {
  /** Signed by a key that the caller trusts, in any order. Left out where there is nothing to hold the log against. */
  readonly checkpoints?: readonly Checkpoint[]
  /** What the age of checkpoints counts from; left out where none of them can be young. */
  readonly now?: Date
  /** Told the number of entries proven so far after every batch. */
  readonly onProgress?: (entryCount: number) => void
}

const BATCH_SIZE = 5_000
/** The database cuts nothing past a checkpoint that is younger. */
const CHECKPOINT_HOLDS_MS = 30 * DAY_MS

/**
 * Recomputes every hash of the audit log, from its first entry or from where it was cut, and holds each
 * checkpoint against the tree of its size. Memory does not grow with the log.
 */
export async function verifyAuditChain(
  db: Kysely<Schema>,
  options: VerifyOptions = {},
): Promise<ChainVerdict> {
  for (;;) {
    const chain = await getAuditChain(db)
    const verdict = await walkChain(db, chain, options)
    // What was cut meanwhile is missing for another reason.
    if (verdict.isWhole || (await getAuditChain(db)).cutPosition === chain.cutPosition) {
      return verdict
    }
  }
}

async function walkChain(
  db: Kysely<Schema>,
  chain: AuditChain,
  options: VerifyOptions,
): Promise<ChainVerdict> {
  const { checkpoints = [], onProgress = () => undefined } = options
  const frontier = await readFrontier(createTreeSource(db), chain.cutPosition)
  const walk = new ChainWalk(chain, frontier, checkpoints)
  for (;;) {
    const batch = await listChain(db, walk.position, BATCH_SIZE)
    const completed: TreeNode[] = []
    for (const link of batch) {
      const problem = walk.step(link, completed)
      if (problem !== undefined) return walk.broken(link.sequence, problem)
    }
    const problem = await findWrongNode(db, completed)
    if (problem !== undefined) return walk.broken(null, problem)
    onProgress(walk.entryCount)
    if (batch.length < BATCH_SIZE) break
  }
  const problem = walk.findMissingEnd() ?? (await findWrongCut(db, chain, walk, options))
  if (problem !== undefined) return walk.broken(null, problem)
  const beside = await findEntryBesideChain(db)
  if (beside !== undefined) return walk.broken(beside, 'it has no place in the chain')
  return { ...walk.proven(), isWhole: true, ...(await describeWhole(db, chain, walk)) }
}

/**
 * What is wrong with where the chain begins. Somebody with the whole database can move that to anywhere, and so
 * behind all that checkpoints prove; what retention has cut, the last checkpoint covers and the log itself tells.
 */
async function findWrongCut(
  db: Kysely<Schema>,
  { cutPosition }: AuditChain,
  walk: ChainWalk,
  { checkpoints, now }: VerifyOptions,
): Promise<string | undefined> {
  if (cutPosition === 0) return undefined
  const begins = `the chain begins behind ${cutPosition}`
  if (checkpoints !== undefined && walk.proven().checkpointCount === 0) {
    return `${begins}, and no checkpoint covers that`
  }
  const heldSinceMs = (now?.getTime() ?? Infinity) - CHECKPOINT_HOLDS_MS
  const young = walk.outdated.find(({ signedAt }) => (signedAt?.getTime() ?? 0) > heldSinceMs)
  if (young !== undefined) {
    return `${begins}, and ${describe(young)}, which covers ${young.size}, was signed within 30 days`
  }
  if (walk.toldCut === cutPosition || (await isCutUnchained(db, cutPosition))) return undefined
  return `${begins}, and no entry tells of that cut`
}

async function describeWhole(
  db: Kysely<Schema>,
  { cutPosition, cutAt }: AuditChain,
  walk: ChainWalk,
): Promise<Pick<WholeChain, 'head' | 'unchained' | 'cut'>> {
  return {
    head: walk.head.toString('hex'),
    unchained: await countUnchainedEntries(db, Number.MAX_SAFE_INTEGER),
    cut: cutPosition === 0 ? null : { entryCount: cutPosition, at: cutAt },
  }
}

/** The way along the chain: what was proven so far, and the checkpoints that are still ahead. */
class ChainWalk {
  entryCount = 0
  head: Buffer
  /** Where the chain begins by the last entry that tells of a cut. */
  toldCut: number | undefined
  /** Checkpoints that end in entries which were cut. */
  readonly outdated: readonly Checkpoint[]
  readonly #chain: AuditChain
  readonly #frontier: TreeFrontier
  /** In the order of their sizes. */
  readonly #ahead: readonly Checkpoint[]
  #confirmedCount = 0
  #confirmedAt: Date | null = null

  constructor(chain: AuditChain, frontier: TreeFrontier, checkpoints: readonly Checkpoint[]) {
    this.#chain = chain
    this.#frontier = frontier
    this.head = chain.cutHead
    const bySize = checkpoints.toSorted((a, b) => a.size - b.size)
    this.#ahead = bySize.filter(({ size }) => size >= chain.cutPosition)
    this.outdated = bySize.slice(0, bySize.length - this.#ahead.length)
  }

  get position(): number {
    return this.#frontier.size
  }

  /** Goes on to the next place of the chain and answers what is wrong with it. */
  step(link: ChainLink, completed: TreeNode[]): string | undefined {
    const wrong = this.#confirm() ?? this.#findProblem(link)
    if (wrong !== undefined) return wrong
    completed.push(...this.#frontier.append(link.hash))
    this.head = link.hash
    this.entryCount += 1
    if (link.entry?.action === CUT_ACTION) this.toldCut = toToldCut(link.entry.after)
    return undefined
  }

  #findProblem({ position, sequence, hash, entry }: ChainLink): string | undefined {
    if (position !== this.position + 1) return `place ${this.position + 1} of the chain is missing`
    if (entry === null) return 'it is in the chain and is gone'
    const text = toCanonicalText(toAuditFields(entry))
    const expected = hashEntry(this.head, { position, sequence }, text)
    return hash.equals(expected) ? undefined : 'its content does not match its hash'
  }

  /** Holds the checkpoints of the present size against the tree. */
  #confirm(): string | undefined {
    for (;;) {
      const next = this.#ahead[this.#confirmedCount]
      if (next === undefined || next.size > this.position) return undefined
      if (!next.root.equals(this.#frontier.root())) {
        return `the first ${next.size} entries are not those that ${describe(next)} covers${this.#describeConfirmed()}`
      }
      this.#confirmedCount += 1
      this.#confirmedAt = latest(this.#confirmedAt, next.signedAt)
    }
  }

  /** What is wrong when the chain ends here. */
  findMissingEnd(): string | undefined {
    const wrong = this.#confirm()
    if (wrong !== undefined) return wrong
    const last = this.#ahead.at(-1)
    if (last !== undefined && this.#confirmedCount < this.#ahead.length) {
      return `the chain has ${this.position} entries, and ${describe(last)} covers ${last.size}: those at the end are gone`
    }
    if (this.position < this.#chain.size) {
      return `the chain has ${this.position} entries and had ${this.#chain.size}: those at the end are gone`
    }
    return undefined
  }

  #describeConfirmed(): string {
    if (this.#confirmedAt === null) return ''
    return `; up to the one of ${this.#confirmedAt.toISOString()} they are`
  }

  proven(): Proven {
    return {
      entryCount: this.entryCount,
      checkpointCount: this.#confirmedCount,
      latestCheckpointAt: this.#confirmedAt,
      outdatedCheckpointCount: this.outdated.length,
    }
  }

  broken(sequence: string | null, problem: string): BrokenChain {
    return { ...this.proven(), isWhole: false, sequence, problem }
  }
}

function toToldCut(after: unknown): number | undefined {
  const isTold = typeof after === 'object' && after !== null && 'position' in after
  return isTold ? Number(after.position) : undefined
}

function describe({ signedAt }: Checkpoint): string {
  return `the checkpoint of ${signedAt?.toISOString() ?? 'an unknown time'}`
}

function latest(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}

/** Whether the stored nodes of the tree are those that the chain makes; from them proofs are made. */
async function findWrongNode(
  db: Kysely<Schema>,
  completed: readonly TreeNode[],
): Promise<string | undefined> {
  for (const level of new Set(completed.map((node) => node.level))) {
    const expected = completed.filter((node) => node.level === level)
    const [first, last] = [expected[0], expected.at(-1)]
    if (first === undefined || last === undefined) continue
    const stored = await listSubtrees(db, { level, first: first.index, last: last.index })
    const wrong = expected.find(({ hash }, place) => stored[place]?.hash.equals(hash) !== true)
    if (wrong === undefined) continue
    const width = 2 ** (level * TILE_HEIGHT)
    return `the tree over the places ${wrong.index * width + 1} to ${(wrong.index + 1) * width} is not that of its entries`
  }
  return undefined
}
