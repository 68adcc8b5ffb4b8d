/*
 * Questions to single devices that somebody waits for, for seconds: which program holds a connection, which
 * certificates there are. This file holds the words that the others share.
 */
import type { OsqueryRow } from '../../schema/tables/column-types.ts'

/** Why a device is asked. */
export type QuestionPurpose = 'sign_in_proof' | 'registration' | 'certificate'

/** One question. `sql` is the service's own and never a user's; 20,000 characters at most. */
export interface AskedQuestion {
  readonly deviceId: string
  readonly sql: string
  readonly purpose: QuestionPurpose
}

/**
 * What came of a question. `failed`: the device could not run it. `expired`: no answer came in time, or the device is
 * not asked, because it is gone, its agent is disabled, or too many questions wait for it.
 */
export interface QuestionAnswer {
  readonly deviceId: string
  readonly status: 'answered' | 'failed' | 'expired'
  readonly rows: readonly OsqueryRow[]
  readonly answeredAt: Date | null
  /** Milliseconds from the question to the stored answer. */
  readonly latencyMs: number | null
}

/** With what the ids of questions begin towards agents. */
export const QUESTION_PREFIX = 'ask:'

/** The channel that tells the agent intakes of all processes which devices are asked: ids with blanks between. */
export const QUESTION_CHANNEL = 'device_question'

/** The channel that tells whoever waits which questions were answered: ids with blanks between. */
export const QUESTION_ANSWER_CHANNEL = 'device_question_answer'

export const QUESTION_SQL_LENGTH_MAX = 20_000

/** Questions of one device that may wait. */
export const WAITING_QUESTIONS_MAX = 8

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/** The id of a question as an agent names it; undefined for one that this service never gave. */
export function parseQuestionId(queryId: string): string | undefined {
  if (!queryId.startsWith(QUESTION_PREFIX)) return undefined
  const id = queryId.slice(QUESTION_PREFIX.length)
  return UUID.test(id) ? id : undefined
}
