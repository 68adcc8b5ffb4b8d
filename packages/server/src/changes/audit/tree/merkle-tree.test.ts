import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  hashLeaf,
  hashNode,
  proveConsistency,
  proveInclusion,
  readFrontier,
  readRoot,
  TreeFrontier,
  type SubtreeSource,
} from './merkle-tree.ts'
import { isConsistent, isIncluded } from '../../../../test/support/merkle-proofs.ts'

/** The leaves of the test vectors of Certificate Transparency, and the roots of the trees of the first ones. */
const VECTOR_LEAVES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
]
const VECTOR_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

/** The tree by its definition, from all of its leaves. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return createHash('sha256').digest()
  const [only] = leaves
  if (leaves.length === 1 && only !== undefined) return hashLeaf(only)
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return hashNode(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

const sourceOf = (leaves: readonly Buffer[]): SubtreeSource => ({
  subtree: async (height, index) =>
    rootOf(leaves.slice(index * 2 ** height, (index + 1) * 2 ** height)),
})

const leavesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => Buffer.from(`leaf ${index}`))

describe('the Merkle tree', () => {
  it('has the roots of the vectors of Certificate Transparency', () => {
    const frontier = new TreeFrontier()
    const roots = VECTOR_LEAVES.map((leaf) => {
      frontier.append(Buffer.from(leaf, 'hex'))
      return frontier.root().toString('hex')
    })
    expect(roots).toEqual(VECTOR_ROOTS)
    expect(new TreeFrontier().root()).toEqual(rootOf([]))
  })

  it('grows to the same root from any of its sizes', async () => {
    const leaves = leavesOf(70)
    for (let size = 0; size <= leaves.length; size += 1) {
      const frontier = await readFrontier(sourceOf(leaves), size)
      expect(frontier.root(), `size ${size}`).toEqual(rootOf(leaves.slice(0, size)))
      expect(await readRoot(sourceOf(leaves), size)).toEqual(frontier.root())
      for (const leaf of leaves.slice(size)) frontier.append(leaf)
      expect(frontier.root()).toEqual(rootOf(leaves))
    }
  })

  it('stores the roots of 256 and of 65,536 leaves when they are complete', () => {
    const frontier = new TreeFrontier()
    const stored = leavesOf(65_536 + 255).flatMap((leaf) => frontier.append(leaf))
    expect(stored).toHaveLength(257)
    expect(stored[0]).toEqual({ level: 1, index: 0, hash: rootOf(leavesOf(256)) })
    expect(stored.at(-1)).toMatchObject({ level: 2, index: 0 })
    expect(stored.at(-2)).toMatchObject({ level: 1, index: 255 })
  })

  it('proves of every smaller tree that it is its beginning, and of no other one', async () => {
    const leaves = leavesOf(40)
    for (let size = 1; size <= leaves.length; size += 1) {
      const root = rootOf(leaves.slice(0, size))
      for (let from = 1; from <= size; from += 1) {
        const proof = await proveConsistency(sourceOf(leaves), from, size)
        const smaller = rootOf(leaves.slice(0, from))
        const sizes = `${from} of ${size}`
        expect(isConsistent({ from, size, smaller, root, proof }), sizes).toBe(true)
        const other = hashLeaf(smaller)
        expect(isConsistent({ from, size, smaller: other, root, proof }), sizes).toBe(false)
      }
    }
  })

  it('proves of every leaf that it is in the tree, and of no other one', async () => {
    const leaves = leavesOf(40)
    for (let size = 1; size <= leaves.length; size += 1) {
      const root = rootOf(leaves.slice(0, size))
      for (const [leaf, data] of leaves.slice(0, size).entries()) {
        const proof = await proveInclusion(sourceOf(leaves), leaf, size)
        expect(isIncluded({ leaf, size, data, root, proof })).toBe(true)
        expect(isIncluded({ leaf, size, data: Buffer.from('other'), root, proof })).toBe(false)
      }
    }
  })
})
