/** SETs by their numbers, both ends included. */
export type SequenceRange = readonly [from: number, to: number]

/** How far the numbered SETs of a stream have come. */
export interface StreamPosition {
  /** This SET and all before it have come, or are accounted for. */
  readonly sequence: number
  /** SETs beyond it that have come, ascending and apart; what is missing between is a gap. */
  readonly ahead: readonly SequenceRange[]
}

/** SETs that are missing, both ends included. */
export interface SequenceGap {
  readonly from: number
  readonly to: number
}

/**
 * Takes note of a SET; answers the same position when that changes nothing. The first one that is
 * ever seen begins the count: what was before it is not missing, but was before this receiver's
 * time.
 */
export function noteSequence(
  position: StreamPosition | undefined,
  sequence: number,
): StreamPosition {
  if (position === undefined) return { sequence, ahead: [] }
  const isKnown =
    sequence <= position.sequence ||
    position.ahead.some(([from, to]) => from <= sequence && sequence <= to)
  if (isKnown) return position
  const ranges: SequenceRange[] = [...position.ahead, [sequence, sequence]]
  return closeUp(position.sequence, ranges)
}

/** Counts every SET up to this one as accounted for; answers the same position when that changes nothing. */
export function skipTo(position: StreamPosition | undefined, sequence: number): StreamPosition {
  if (position === undefined) return { sequence, ahead: [] }
  return sequence <= position.sequence ? position : closeUp(sequence, position.ahead)
}

/** Tells whether two positions count the same SETs. */
export function isSamePosition(
  left: StreamPosition | undefined,
  right: StreamPosition | undefined,
): boolean {
  return left?.sequence === right?.sequence && String(left?.ahead) === String(right?.ahead)
}

/** The first gap, if there is one. */
export function findGap(position: StreamPosition | undefined): SequenceGap | undefined {
  const next = position?.ahead[0]
  if (position === undefined || next === undefined) return undefined
  return { from: position.sequence + 1, to: next[0] - 1 }
}

/** Joins ranges that touch one another, and those that touch what is accounted for. */
function closeUp(sequence: number, ranges: readonly SequenceRange[]): StreamPosition {
  let reached = sequence
  const ahead: [number, number][] = []
  for (const [from, to] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const last = ahead.at(-1)
    if (from <= reached + 1) reached = Math.max(reached, to)
    else if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else ahead.push([from, to])
  }
  return { sequence: reached, ahead }
}
