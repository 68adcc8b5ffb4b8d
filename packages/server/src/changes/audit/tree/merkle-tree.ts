/*
 * The Merkle tree over the audit chain (RFC 6962 section 2.1): its leaves are the hashes of the chain, in
 * their order. Owns the shape of the tree, its root and its proofs; where nodes are kept is tree-store.ts's.
 */
import { createHash } from 'node:crypto'

/** Nodes are stored where they are the roots of so many levels: 256 of one level make one of the next. */
export const TILE_HEIGHT = 8
/** The leaves below a node of the first stored level. */
export const TILE_WIDTH = 2 ** TILE_HEIGHT

export const HASH_BYTES = 32

/** The root of a tree without leaves. */
const EMPTY_ROOT = createHash('sha256').digest()

/** A stored node: `level` counts from 1 in steps of {@link TILE_HEIGHT}, `index` from 0 within its level. */
export interface TreeNode {
  readonly level: number
  readonly index: number
  readonly hash: Buffer
}

/** The hash of a leaf: 0x00 stands before its data. */
export function hashLeaf(data: Buffer): Buffer {
  return createHash('sha256').update(LEAF_PREFIX).update(data).digest()
}

/** The hash of an inner node: 0x01 stands before its two children. */
export function hashNode(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(NODE_PREFIX).update(left).update(right).digest()
}

const LEAF_PREFIX = Buffer.from([0])
const NODE_PREFIX = Buffer.from([1])

/**
 * The end of a tree that grows: the roots of the complete subtrees that it consists of, the largest first.
 * Enough to append to it and to know its root.
 */
export class TreeFrontier {
  #size: number
  readonly #roots: Buffer[]

  constructor(size = 0, roots: readonly Buffer[] = []) {
    this.#size = size
    this.#roots = [...roots]
  }

  get size(): number {
    return this.#size
  }

  get roots(): readonly Buffer[] {
    return this.#roots
  }

  /** Appends a leaf and answers the nodes to store that it completes, the lowest first. */
  append(data: Buffer): TreeNode[] {
    const completed: TreeNode[] = []
    let node = hashLeaf(data)
    let index = this.#size
    for (let height = 1; index % 2 === 1; height += 1) {
      node = hashNode(this.#roots.pop() ?? EMPTY_ROOT, node)
      index = Math.floor(index / 2)
      if (height % TILE_HEIGHT === 0) {
        completed.push({ level: height / TILE_HEIGHT, index, hash: node })
      }
    }
    this.#roots.push(node)
    this.#size += 1
    return completed
  }

  /** The root of the tree as it is now. */
  root(): Buffer {
    const [last, ...others] = this.#roots.toReversed()
    if (last === undefined) return EMPTY_ROOT
    return others.reduce((right, left) => hashNode(left, right), last)
  }
}

/** Where the complete subtrees of a tree come from. */
export interface SubtreeSource {
  /** The root of the complete subtree of 2^`height` leaves with this index among those of its height. */
  subtree(height: number, index: number): Promise<Buffer>
}

/** The root of the tree of the first `size` leaves. */
export async function readRoot(source: SubtreeSource, size: number): Promise<Buffer> {
  return size === 0 ? EMPTY_ROOT : readRange(source, 0, size)
}

/** The end of the tree of the first `size` leaves. */
export async function readFrontier(source: SubtreeSource, size: number): Promise<TreeFrontier> {
  const roots: Buffer[] = []
  for (let start = 0; start < size;) {
    const height = Math.floor(Math.log2(size - start))
    roots.push(await source.subtree(height, start / 2 ** height))
    start += 2 ** height
  }
  return new TreeFrontier(size, roots)
}

/** `start` is a multiple of the largest power of two below or at the width, as in all ranges of the tree. */
async function readRange(source: SubtreeSource, start: number, end: number): Promise<Buffer> {
  const height = Math.log2(end - start)
  if (Number.isInteger(height)) return source.subtree(height, start / 2 ** height)
  const middle = start + splitOf(end - start)
  return hashNode(await readRange(source, start, middle), await readRange(source, middle, end))
}

/** The largest power of two below `width`. */
function splitOf(width: number): number {
  return 2 ** (Math.ceil(Math.log2(width)) - 1)
}

/**
 * Proves that the tree of `from` leaves is the beginning of the tree of `size` leaves: RFC 6962 section
 * 2.1.2. `from` is at least 1 and at most `size`.
 */
export async function proveConsistency(
  source: SubtreeSource,
  from: number,
  size: number,
): Promise<Buffer[]> {
  const proof: Buffer[] = []
  let [start, end] = [0, size]
  // The way down to the node at which the smaller tree ends; the other side of each step is proof.
  while (from < end) {
    const middle = start + splitOf(end - start)
    if (from <= middle) {
      proof.push(await readRange(source, middle, end))
      end = middle
    } else {
      proof.push(await readRange(source, start, middle))
      start = middle
    }
  }
  if (start > 0) proof.push(await readRange(source, start, end))
  return proof.reverse()
}

/** Proves that a leaf, counted from 0, is in the tree of `size` leaves: RFC 6962 section 2.1.1. */
export async function proveInclusion(
  source: SubtreeSource,
  leaf: number,
  size: number,
): Promise<Buffer[]> {
  const proof: Buffer[] = []
  let [start, end] = [0, size]
  while (end - start > 1) {
    const middle = start + splitOf(end - start)
    if (leaf < middle) {
      proof.push(await readRange(source, middle, end))
      end = middle
    } else {
      proof.push(await readRange(source, start, middle))
      start = middle
    }
  }
  return proof.reverse()
}
