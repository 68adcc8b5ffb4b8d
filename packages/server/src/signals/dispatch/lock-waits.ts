import { SECOND_MS } from '../../platform/clock.ts'
import type { TransactionBounds } from '../../platform/db/bound-transaction.ts'

/**
 * How a dispatcher waits for rows while none is known to be locked: longer than most that is written takes, and so
 * short that an end which begins meanwhile still has time to find what is locked among others.
 */
export const FIRST_WAIT: TransactionBounds = { lockMs: 2 * SECOND_MS, statementMs: 20 * SECOND_MS }
/** Where some are known to be locked, what is tried again, and at an end. */
export const BRIEF_WAIT: TransactionBounds = { ...FIRST_WAIT, lockMs: 500 }
