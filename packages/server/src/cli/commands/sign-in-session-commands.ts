import { endSession } from '../../sign-in/sessions/end-sessions.ts'
import { listGrantedSessions } from '../../sign-in/sessions/granted-session-store.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'

const listCommand = databaseCommand({
  name: 'list',
  description: 'list the granted sessions that have not ended',
  run: async ({ services: { db, clock } }) => {
    const sessions = await listGrantedSessions(db, { liveAt: clock.now() }, EVERYTHING)
    return sessions.map((session) => ({
      id: session.id,
      person_email: session.personEmail,
      device_name: session.deviceName,
      application_name: session.applicationName,
      assurance: session.assurance,
      expires_at: session.expiresAt.toISOString(),
    }))
  },
  text: (sessions) =>
    toTable(sessions, {
      ID: ({ id }) => id,
      PERSON: (session) => session.person_email,
      DEVICE: (session) => session.device_name ?? '',
      APPLICATION: (session) => session.application_name ?? '',
      EXPIRES: (session) => session.expires_at,
    }),
})

const endCommand = databaseCommand({
  name: 'end <id>',
  description: 'end a granted session; its tokens are refused at once',
  run: async ({ args, change }) => {
    const { id, endReason } = await change((tx) => endSession(tx, args.id, 'admin'))
    return { id, end_reason: endReason }
  },
  text: ({ id }) => `Ended the session ${id}.`,
})

/** `heliograph sign-in sessions ...` */
export const SIGN_IN_SESSION_COMMANDS = [listCommand, endCommand]
