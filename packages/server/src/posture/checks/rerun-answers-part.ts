import type { ServicePart } from '../../changes/foundation.ts'
import { createRerunAnswers, RERUN_CHANNEL, type RerunAnswers } from './rerun-answers.ts'

/** Where processes that answer people hear that devices have run checks again. */
export interface RerunAnswersPart extends ServicePart {
  readonly reruns: RerunAnswers
}

export function createRerunAnswersPart(): RerunAnswersPart {
  const reruns = createRerunAnswers()
  return {
    name: 'check reruns',
    roles: ['api'],
    reruns,
    channels: { [RERUN_CHANNEL]: (payload) => reruns.hear(payload) },
    onReconnect: () => reruns.hearAll(),
  }
}
