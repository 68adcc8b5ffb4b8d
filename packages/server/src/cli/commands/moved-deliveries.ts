/* What commands that send deliveries again or give them up have in common, whoever owns the deliveries. */
import { AppError } from '../../platform/app-error.ts'
import type { MovedDeliveries } from '../../signals/dispatch/redrive-deliveries.ts'
import { listOption, repeatedOption, timeOption } from '../option.ts'

/** The flags that say which deliveries of an owner. */
export const SELECTION_OPTIONS = {
  since: timeOption('--since <time>', 'only what was queued then or later'),
  until: timeOption('--until <time>', 'only what was queued then or earlier'),
  event: listOption('--event <id...>', 'only these events'),
}

/** Those of what is given up. */
export const DISCARD_OPTIONS = {
  ...SELECTION_OPTIONS,
  state: repeatedOption('--state <state>', 'only queued or only dead ones', parseState),
}

/** Moves batch after batch until nothing is left. */
export async function countMoved(move: () => Promise<MovedDeliveries>): Promise<{ count: number }> {
  let count = 0
  for (;;) {
    const moved = await move()
    count += moved.count
    if (!moved.hasMore) return { count }
  }
}

function parseState(text: string): 'queued' | 'dead' {
  if (text === 'queued' || text === 'dead') return text
  throw new AppError('invalid_parameter', 'A state to give up is queued or dead.')
}
