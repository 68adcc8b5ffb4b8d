import type { Change } from '../../changes/change.ts'
import { judgeLiveResult, type LiveAnswer } from '../live-queries/judge-live-result.ts'
import { parseQuestionId } from './device-question.ts'
import type { QuestionInbox } from './question-inbox.ts'
import { updateAnsweredQuestions, type GivenAnswer } from './question-store.ts'

/**
 * Records what a device answered to questions, in the open change. Harmless are repeated and late answers, and those
 * to questions of others. Once the change is durable the inbox no longer asks.
 */
export async function recordQuestionAnswers(
  change: Change,
  inbox: Pick<QuestionInbox, 'forget'>,
  deviceId: string,
  results: readonly (LiveAnswer & { readonly id: string })[],
): Promise<void> {
  const answers = results.flatMap((result): GivenAnswer[] => {
    const id = parseQuestionId(result.id)
    if (id === undefined) return []
    const { state, rows, errorMessage } = judgeLiveResult(result)
    return [{ id, status: state === 'successful' ? 'answered' : 'failed', rows, errorMessage }]
  })
  if (answers.length === 0) return
  await updateAnsweredQuestions(change, deviceId, answers, change.now())
  const ids = answers.map(({ id }) => id)
  change.afterCommit(() => inbox.forget(deviceId, ids))
}
