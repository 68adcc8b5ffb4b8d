/*
 * What whoever keeps a checkpoint does with a proof, written after RFC 9162 sections 2.1.3.2 and 2.1.4.2 and
 * not after the code that makes proofs.
 */
import { createHash } from 'node:crypto'

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest()
const hashLeaf = (data: Buffer) => sha256(Buffer.from([0]), data)
const hashNode = (left: Buffer, right: Buffer) => sha256(Buffer.from([1]), left, right)

export interface ConsistencyClaim {
  readonly from: number
  readonly size: number
  /** The root of the tree of `from` leaves. */
  readonly smaller: Buffer
  readonly root: Buffer
  readonly proof: readonly Buffer[]
}

/** RFC 9162 section 2.1.4.2. */
export function isConsistent({ from, size, smaller, root, proof }: ConsistencyClaim): boolean {
  if (from === size) return proof.length === 0 && smaller.equals(root)
  const isPowerOfTwo = Number.isInteger(Math.log2(from))
  const [first, ...rest] = isPowerOfTwo ? [smaller, ...proof] : proof
  if (first === undefined) return false
  let [fn, sn] = [from - 1, size - 1]
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  let [fr, sr] = [first, first]
  for (const hash of rest) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      fr = hashNode(hash, fr)
      sr = hashNode(hash, sr)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
    } else {
      sr = hashNode(sr, hash)
    }
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return fr.equals(smaller) && sr.equals(root) && sn === 0
}

export interface InclusionClaim {
  /** Counted from 0. */
  readonly leaf: number
  readonly size: number
  readonly data: Buffer
  readonly root: Buffer
  readonly proof: readonly Buffer[]
}

/** RFC 9162 section 2.1.3.2. */
export function isIncluded({ leaf, size, data, root, proof }: InclusionClaim): boolean {
  if (leaf >= size) return false
  let [fn, sn] = [leaf, size - 1]
  let hash = hashLeaf(data)
  for (const step of proof) {
    if (sn === 0) return false
    if (fn % 2 === 1 || fn === sn) {
      hash = hashNode(step, hash)
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
    } else {
      hash = hashNode(hash, step)
    }
    ;[fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)]
  }
  return sn === 0 && hash.equals(root)
}
