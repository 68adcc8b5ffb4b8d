import { toSigningKeySettings } from '../../signals/signing/signing-keys.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import {
  revokeSigningKey,
  rollBackSigningKey,
  rotateSigningKey,
} from '../../signals/signing/change-signing-key.ts'
import { toSigningKeyJson } from '../../signals/signing/signing-key-json.ts'
import { viewKeys } from '../../signals/signing/signing-key-read.ts'
import { listSigningKeys } from '../../signals/signing/signing-key-store.ts'
import { getStream, parseStreamReference } from '../../signals/streams/stream-store.ts'
import { toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { repeatedOption, wholeOption } from '../option.ts'
import type { DestinationId } from '../../schema/branded-ids.ts'

const CANARY_HOURS_MAX = 720

const list = databaseCommand({
  name: 'list',
  description: 'list the keys and how many receivers have proven to know them',
  run: async ({ services: { clock, db } }) => viewKeys(db, await listSigningKeys(db), clock.now()),
  json: (views) => views.map(toSigningKeyJson),
  text: (views) =>
    toTable(views, {
      KID: ({ key }) => key.kid,
      STATE: ({ key, state }) => (key.revokedAt === null ? state : 'revoked'),
      PUBLISHED: ({ key }) => key.createdAt.toISOString(),
      'SIGNS FROM': ({ key }) => key.generalFrom?.toISOString() ?? 'halted',
      'PUBLISHED UNTIL': ({ key }) => key.retiredAt?.toISOString() ?? '-',
      'IN USE': ({ receivers }) => String(receivers.filter(({ isInUse }) => isInUse).length),
      PROVEN: ({ receivers }) =>
        String(receivers.filter(({ firstAcceptedAt }) => firstAcceptedAt !== null).length),
      REFUSED: ({ receivers }) =>
        String(receivers.filter(({ isRolledBack }) => isRolledBack).length),
    }),
})

const rotate = databaseCommand({
  name: 'rotate',
  description: 'publish a new key, which signs after the time ahead that is set',
  options: {
    canary: repeatedOption(
      '--canary <stream>',
      'a stream that uses it before the others; may be repeated',
      String,
    ),
    canaryHours: wholeOption(
      '--canary-hours <n>',
      'how long only they use it',
      CANARY_HOURS_MAX,
    ).default(24),
  },
  async run({ change, options, services }) {
    const key = await change(async (tx) => {
      const destinations = new Set<DestinationId>()
      for (const id of options.canary ?? []) {
        destinations.add((await getStream(tx.tx, parseStreamReference(id))).destinationId)
      }
      return rotateSigningKey(tx, toSigningKeySettings(services, services.config), {
        canaryDestinationIds: [...destinations],
        canaryMs: options.canaryHours * HOUR_MS,
      })
    })
    const [view] = await viewKeys(services.db, [key], services.clock.now())
    return { key, view }
  },
  json: ({ view }) => (view === undefined ? null : toSigningKeyJson(view)),
  text: ({ key }) => `Published ${key.kid}; it signs from ${key.activeFrom.toISOString()}.`,
})

const rollback = databaseCommand({
  name: 'rollback',
  description: 'take the last rotation back: the key before signs again at once',
  run: ({ change }) => change(rollBackSigningKey),
  json: ({ key, active }) => ({ rolled_back_kid: key.kid, active_kid: active.kid }),
  text: ({ key, active }) => `Gave up ${key.kid}; ${active.kid} signs again.`,
})

const revoke = databaseCommand({
  name: 'revoke <kid>',
  description: 'end a compromised key at once; what waits is signed with another one',
  run: ({ args, change, services }) =>
    change((tx) => revokeSigningKey(tx, args.kid, toSigningKeySettings(services, services.config))),
  json: ({ key, active }) => ({
    kid: key.kid,
    revoked_at: key.revokedAt,
    active_kid: active.kid,
  }),
  text: ({ key, active }) => `Revoked ${key.kid}; ${active.kid} signs now.`,
})

/** `heliograph signing-keys list|rotate|rollback|revoke`. */
export const definition = commandGroup([list, rotate, rollback, revoke])
