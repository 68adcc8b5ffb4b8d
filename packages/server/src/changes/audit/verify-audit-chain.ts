/*
 * Proves the audit log: every hash of the chain anew, the nodes of the tree over it, and what checkpoints say
 * that was signed. Owns what is wrong with a log; where checkpoints come from is for the caller.
 */
import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'
import { hashEntry, toCanonicalText } from './audit-entry.ts'
import { toAuditFields } from './audit-store.ts'
import type { Checkpoint } from './checkpoints/checkpoint.ts'
import {
  countUnchainedEntries,
  getAuditChain,
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
  /** Signed by a key that the caller trusts, in any order. */
  readonly checkpoints?: readonly Checkpoint[]
  /** Told the number of entries proven so far after every batch. */
  readonly onProgress?: (entryCount: number) => void
}

const BATCH_SIZE = 5_000

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
  { checkpoints = [], onProgress = () => undefined }: VerifyOptions,
): Promise<ChainVerdict> {
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
  const problem = walk.findMissingEnd()
  if (problem !== undefined) return walk.broken(null, problem)
  return { ...walk.proven(), isWhole: true, ...(await describeWhole(db, chain, walk)) }
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
  readonly #chain: AuditChain
  readonly #frontier: TreeFrontier
  readonly #ahead: Checkpoint[]
  readonly #outdatedCount: number
  #confirmedCount = 0
  #confirmedAt: Date | null = null

  constructor(chain: AuditChain, frontier: TreeFrontier, checkpoints: readonly Checkpoint[]) {
    this.#chain = chain
    this.#frontier = frontier
    this.head = chain.cutHead
    const bySize = checkpoints.toSorted((a, b) => a.size - b.size)
    this.#ahead = bySize.filter(({ size }) => size >= chain.cutPosition)
    this.#outdatedCount = bySize.length - this.#ahead.length
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
      const [next] = this.#ahead
      if (next === undefined || next.size > this.position) return undefined
      if (!next.root.equals(this.#frontier.root())) {
        return `the first ${next.size} entries are not those that ${describe(next)} covers${this.#describeConfirmed()}`
      }
      this.#ahead.shift()
      this.#confirmedCount += 1
      this.#confirmedAt = latest(this.#confirmedAt, next.signedAt)
    }
  }

  /** What is wrong when the chain ends here. */
  findMissingEnd(): string | undefined {
    const wrong = this.#confirm()
    if (wrong !== undefined) return wrong
    const last = this.#ahead.at(-1)
    if (last !== undefined) {
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
      outdatedCheckpointCount: this.#outdatedCount,
    }
  }

  broken(sequence: string | null, problem: string): BrokenChain {
    return { ...this.proven(), isWhole: false, sequence, problem }
  }
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
