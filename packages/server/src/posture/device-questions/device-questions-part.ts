import { toLogError, type Foundation, type ServicePart } from '../../changes/foundation.ts'
import { createDeviceAsker, type AskDevices } from './ask-devices.ts'
import { QUESTION_ANSWER_CHANNEL } from './device-question.ts'

/** What asks devices, in processes that answer people; the intake of agents puts the questions to them. */
export interface DeviceQuestionsPart extends ServicePart {
  readonly askDevices: AskDevices
}

/** Creates it. Answers come by notifications, which it hears from its start on. */
export function createDeviceQuestionsPart({
  clock,
  db,
  log,
  runChange,
}: Foundation): DeviceQuestionsPart {
  const asker = createDeviceAsker({ clock, db, runChange, logError: toLogError(log) })
  return {
    name: 'device questions',
    roles: ['api'],
    askDevices: asker.askDevices,
    channels: { [QUESTION_ANSWER_CHANNEL]: (payload) => asker.noteAnswered(payload) },
    onReconnect: () => asker.lookForAll(),
    endWaiting: () => asker.close(),
  }
}
