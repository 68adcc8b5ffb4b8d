/*
 * The nodes of the Merkle tree as they are stored: the leaves as links of the chain, the roots of 256 leaves
 * and more as nodes of their own. SQL only.
 */
import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../schema/schema.ts'
import {
  hashLeaf,
  hashNode,
  TILE_HEIGHT,
  type SubtreeSource,
  type TreeNode,
} from './merkle-tree.ts'

/** A node of the tree is not stored: its leaves were cut, or it never was. */
export class MissingNode extends Error {
  override readonly name = 'MissingNode'
}

/** The tree of the database. A subtree whose leaves were cut can be had from 256 leaves on. */
export function createTreeSource(db: Kysely<Schema>): SubtreeSource {
  return {
    async subtree(height, index) {
      const level = Math.floor(height / TILE_HEIGHT)
      const count = 2 ** (height - level * TILE_HEIGHT)
      const nodes = await listNodes(db, level, index * count, count)
      if (nodes.length < count) {
        throw new MissingNode(`The tree has no subtree ${index} of height ${height}`)
      }
      return fold(nodes)
    },
  }
}

async function listNodes(
  db: Kysely<Schema>,
  level: number,
  first: number,
  count: number,
): Promise<Buffer[]> {
  if (level === 0) {
    const { rows } = await sql<{ hash: Buffer }>`select hash from audit_link
      where position > ${first} and position <= ${first + count} order by position`.execute(db)
    return rows.map(({ hash }) => hashLeaf(hash))
  }
  const nodes = await listSubtrees(db, { level, first, last: first + count - 1 })
  return nodes.map(({ hash }) => hash)
}

/** Nodes of one level, by their places in it. */
export interface NodeRange {
  readonly level: number
  readonly first: number
  readonly last: number
}

/** The stored nodes of a range, in their order. */
export async function listSubtrees(
  db: Kysely<Schema>,
  { level, first, last }: NodeRange,
): Promise<TreeNode[]> {
  const { rows } = await sql<{ index: string; hash: Buffer }>`select index, hash from audit_subtree
    where level = ${level} and index between ${first} and ${last} order by index`.execute(db)
  return rows.map(({ index, hash }) => ({ level, index: Number(index), hash }))
}

/** The root of a complete tree over these nodes. */
function fold(nodes: readonly Buffer[]): Buffer {
  const [first, second] = nodes
  if (first === undefined) throw new RangeError('There is no tree over nothing')
  if (second === undefined) return first
  const parents: Buffer[] = []
  for (let at = 0; at < nodes.length; at += 2) {
    parents.push(hashNode(nodes[at] ?? first, nodes[at + 1] ?? second))
  }
  return fold(parents)
}
