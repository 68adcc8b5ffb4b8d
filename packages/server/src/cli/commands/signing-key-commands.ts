import type { Command } from 'commander'
import { toSigningKeySettings } from '../../signals/signing-part.ts'
import { HOUR_MS } from '../../platform/clock.ts'
import { revokeSigningKey } from '../../signals/signing/revoke-signing-key.ts'
import { rollBackSigningKey } from '../../signals/signing/roll-back-signing-key.ts'
import { rotateSigningKey } from '../../signals/signing/rotate-signing-key.ts'
import { toSigningKeyJson } from '../../signals/signing/signing-key-json.ts'
import { viewKeys, type SigningKeyView } from '../../signals/signing/signing-key-read.ts'
import { listSigningKeys } from '../../signals/signing/signing-key-store.ts'
import { getStream } from '../../signals/streams/stream-store.ts'
import { printJson, printLine, printTable, type CommandIo } from '../command-io.ts'
import { collect, parseWhole } from '../parse-arguments.ts'
import { COMMAND_LINE_ORIGIN, runWithServices, withDatabaseFlags } from '../run-command.ts'

const CANARY_HOURS_MAX = 720

/** `heliograph signing-keys list|rotate|rollback|revoke`. */
export function addSigningKeyCommands(program: Command, io: CommandIo): void {
  const keys = program.command('signing-keys').description('the keys that sign event tokens')
  addList(keys, io)
  addRotate(keys, io)
  addRollback(keys, io)
  addRevoke(keys, io)
}

function addList(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('list'))
    .description('list the keys and how many receivers have proven to know them')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ clock, db }) => {
        const rows = await listSigningKeys(db)
        const views = await viewKeys(db, rows, clock.now())
        if (options.json) printJson(io, views.map(toSigningKeyJson))
        else printKeys(io, views)
      })
    })
}

function printKeys(io: CommandIo, views: readonly SigningKeyView[]): void {
  printTable(
    io,
    ['KID', 'STATE', 'PUBLISHED', 'SIGNS FROM', 'PUBLISHED UNTIL', 'IN USE', 'PROVEN', 'REFUSED'],
    views.map(({ key, state, receivers }) => [
      key.kid,
      key.revoked_at === null ? state : 'revoked',
      key.created_at.toISOString(),
      key.general_from?.toISOString() ?? 'halted',
      key.retired_at?.toISOString() ?? '-',
      String(receivers.filter(({ isInUse }) => isInUse).length),
      String(receivers.filter(({ firstAcceptedAt }) => firstAcceptedAt !== null).length),
      String(receivers.filter(({ isRolledBack }) => isRolledBack).length),
    ]),
  )
}

interface RotateOptions {
  canary?: string[]
  canaryHours: number
  json?: true
}

function addRotate(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('rotate'))
    .description('publish a new key, which signs after the time ahead that is set')
    .option(
      '--canary <stream>',
      'a stream that uses it before the others; may be repeated',
      collect((text) => text),
    )
    .option('--canary-hours <n>', 'how long only they use it', parseWhole(1, CANARY_HOURS_MAX), 24)
    .action(async (options: RotateOptions, command: Command) => {
      await runWithServices(io, command, async (services) => {
        const key = await services.runChange(COMMAND_LINE_ORIGIN, async (change) => {
          const destinations = new Set<string>()
          for (const id of options.canary ?? []) {
            destinations.add((await getStream(change.tx, id)).destinationId)
          }
          return rotateSigningKey(change, toSigningKeySettings(services, services.config), {
            canaryDestinationIds: [...destinations],
            canaryMs: options.canaryHours * HOUR_MS,
          })
        })
        const [view] = await viewKeys(services.db, [key], services.clock.now())
        if (options.json) printJson(io, view === undefined ? null : toSigningKeyJson(view))
        else printLine(io, `Published ${key.kid}; it signs from ${key.active_from.toISOString()}.`)
      })
    })
}

function addRollback(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('rollback'))
    .description('take the last rotation back: the key before signs again at once')
    .action(async (options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async ({ runChange }) => {
        const { rolledBack, active } = await runChange(COMMAND_LINE_ORIGIN, rollBackSigningKey)
        if (options.json) {
          printJson(io, { rolled_back_kid: rolledBack.kid, active_kid: active.kid })
        } else printLine(io, `Gave up ${rolledBack.kid}; ${active.kid} signs again.`)
      })
    })
}

function addRevoke(keys: Command, io: CommandIo): void {
  withDatabaseFlags(keys.command('revoke <kid>'))
    .description('end a compromised key at once; what waits is signed with another one')
    .action(async (kid: string, options: { json?: true }, command: Command) => {
      await runWithServices(io, command, async (services) => {
        const { revoked, active } = await services.runChange(COMMAND_LINE_ORIGIN, (change) =>
          revokeSigningKey(change, kid, toSigningKeySettings(services, services.config)),
        )
        if (options.json) {
          printJson(io, {
            kid: revoked.kid,
            revoked_at: revoked.revoked_at,
            active_kid: active.kid,
          })
        } else printLine(io, `Revoked ${revoked.kid}; ${active.kid} signs now.`)
      })
    })
}
