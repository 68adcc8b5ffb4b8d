/*
 * The commands by name, in the order of the help. Each is loaded when it is called: the help loads
 * none of them, and a command none of the others.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CommandDefinition } from './command.ts'

/** A command, or a group of them, that is not loaded yet. */
export interface RegisteredCommand {
  readonly name: string
  readonly description: string
  /** Whether it takes options itself, as a group does not. */
  readonly hasOptions?: true
  readonly load: () => Promise<CommandDefinition>
}

/** What `bench/bench-command.ts` exports; the benchmarks belong to a checkout and are not shipped. */
interface BenchModule {
  readonly benchCommand: CommandDefinition
}

const BENCH_MODULE = new URL('../../bench/bench-command.ts', import.meta.url)

const BENCH: RegisteredCommand = {
  name: 'bench',
  description: 'measure this machine and the service on it, with data that is thrown away',
  hasOptions: true,
  load: async () => ((await import(BENCH_MODULE.href)) as BenchModule).benchCommand,
}

/** Every command of this installation. */
export const REGISTERED_COMMANDS: readonly RegisteredCommand[] = [
  {
    name: 'admins',
    description: 'Admins of the organisation',
    load: async () => (await import('./commands/admin-commands.ts')).adminCommands,
  },
  {
    name: 'audit',
    description: 'The audit log',
    load: async () => (await import('./commands/audit-commands.ts')).auditCommands,
  },
  {
    name: 'backup',
    description: 'back the database up into a folder, beside a service that runs',
    hasOptions: true,
    load: async () => (await import('./commands/backup-command.ts')).backupCommand,
  },
  ...(existsSync(fileURLToPath(BENCH_MODULE)) ? [BENCH] : []),
  {
    name: 'enrollment-secrets',
    description: 'Secrets that devices enroll with',
    load: async () =>
      (await import('./commands/enrollment-secret-commands.ts')).enrollmentSecretCommands,
  },
  {
    name: 'keys',
    description: 'API keys',
    load: async () => (await import('./commands/key-commands.ts')).keyCommands,
  },
  {
    name: 'organisation',
    description: 'The organisation and the switches of its features',
    load: async () => (await import('./commands/organisation-commands.ts')).organisationCommands,
  },
  {
    name: 'deliveries',
    description: 'what was sent to the receivers of streams and webhooks, and what became of it',
    load: async () => (await import('./commands/delivery-commands.ts')).deliveryCommands,
  },
  {
    name: 'demo',
    description: 'run the service with simulated devices, this machine and two receivers',
    hasOptions: true,
    load: async () => (await import('./commands/demo-command.ts')).demoCommand,
  },
  {
    name: 'devices',
    description: 'Devices',
    load: async () => (await import('./commands/device-commands.ts')).deviceCommands,
  },
  {
    name: 'device-groups',
    description: 'Groups of devices',
    load: async () => (await import('./commands/device-group-commands.ts')).deviceGroupCommands,
  },
  {
    name: 'jobs',
    description: 'what the service does in the background',
    load: async () => (await import('./commands/job-commands.ts')).jobCommands,
  },
  {
    name: 'retention',
    description: 'for how long what is kept',
    load: async () => (await import('./commands/retention-commands.ts')).retentionCommands,
  },
  {
    name: 'migrate',
    description: 'bring the schema of the database up to date',
    hasOptions: true,
    load: async () => (await import('./commands/migrate-command.ts')).migrateCommand,
  },
  {
    name: 'receiver',
    description: 'Receive and verify signed events',
    load: async () => (await import('./commands/receiver-commands.ts')).receiverCommands,
  },
  {
    name: 'reporting-queries',
    description: 'Saved SQL over the tables that devices report',
    load: async () => (await import('./commands/reporting-commands.ts')).reportingQueryCommands,
  },
  {
    name: 'reporting-tables',
    description: 'the tables that reporting queries can read',
    hasOptions: true,
    load: async () =>
      (await import('./commands/reporting-tables-command.ts')).reportingTablesCommand,
  },
  {
    name: 'restore',
    description: 'make a backup the database of an empty data folder',
    hasOptions: true,
    load: async () => (await import('./commands/restore-command.ts')).restoreCommand,
  },
  {
    name: 'restored',
    description: 'say that the database was restored by other means',
    hasOptions: true,
    load: async () => (await import('./commands/restored-command.ts')).restoredCommand,
  },
  {
    name: 'serve',
    description: 'run the service',
    hasOptions: true,
    load: async () => (await import('./commands/serve-command.ts')).serveCommand,
  },
  {
    name: 'signing-keys',
    description: 'the keys that sign event tokens',
    load: async () => (await import('./commands/signing-key-commands.ts')).signingKeyCommands,
  },
  {
    name: 'simulate',
    description: 'run simulated osquery devices against a service',
    hasOptions: true,
    load: async () => (await import('./commands/simulate-command.ts')).simulateCommand,
  },
  {
    name: 'ssf-clients',
    description: 'OAuth clients of the strict Shared Signals face',
    load: async () => (await import('./commands/ssf-client-commands.ts')).ssfClientCommands,
  },
  {
    name: 'streams',
    description: 'Shared Signals streams',
    load: async () => (await import('./commands/stream-commands.ts')).streamCommands,
  },
  {
    name: 'webhooks',
    description: 'addresses that are told of events as they happen',
    load: async () => (await import('./commands/webhook-commands.ts')).webhookCommands,
  },
]
