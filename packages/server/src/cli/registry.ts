/*
 * The commands by name, in the order of the help. Each is loaded when it is called: the help loads
 * none of them, and a command none of the others.
 */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CommandDefinition } from './command.ts'

/** What the module of a command, or of a group of them, exports. */
interface CommandModule {
  readonly definition: CommandDefinition
}

/** A command, or a group of them, that is not loaded yet. */
export interface RegisteredCommand {
  readonly name: string
  readonly description: string
  /** Whether it takes options itself, as a group does not. */
  readonly hasOptions: boolean
  readonly load: () => Promise<CommandModule>
}

/** The benchmarks belong to a checkout and are not shipped. */
const BENCH_MODULE = new URL('../../bench/bench-command.ts', import.meta.url)

const BENCH = single(
  'bench',
  'measure this machine and the service on it, with data that is thrown away',
  async () => (await import(BENCH_MODULE.href)) as CommandModule,
)

/** Every command of this installation. */
export const REGISTERED_COMMANDS: readonly RegisteredCommand[] = [
  group('admins', 'Admins of the organisation', () => import('./commands/admin-commands.ts')),
  group('audit', 'The audit log', () => import('./commands/audit-commands.ts')),
  single(
    'backup',
    'back the database up into a folder, beside a service that runs',
    () => import('./commands/backup-command.ts'),
  ),
  ...(existsSync(fileURLToPath(BENCH_MODULE)) ? [BENCH] : []),
  group(
    'enrollment-secrets',
    'Secrets that devices enroll with',
    () => import('./commands/enrollment-secret-commands.ts'),
  ),
  group('keys', 'API keys', () => import('./commands/key-commands.ts')),
  group(
    'organisation',
    'The organisation and the switches of its features',
    () => import('./commands/organisation-commands.ts'),
  ),
  group(
    'deliveries',
    'what was sent to the receivers of streams and webhooks, and what became of it',
    () => import('./commands/delivery-commands.ts'),
  ),
  single(
    'demo',
    'run the service with simulated devices, this machine and two receivers',
    () => import('./commands/demo-command.ts'),
  ),
  group('devices', 'Devices', () => import('./commands/device-commands.ts')),
  group('device-groups', 'Groups of devices', () => import('./commands/device-group-commands.ts')),
  group(
    'jobs',
    'what the service does in the background',
    () => import('./commands/job-commands.ts'),
  ),
  group(
    'partitions',
    'the tables that are partitioned, because they grow for ever',
    () => import('./commands/partition-commands.ts'),
  ),
  group('retention', 'for how long what is kept', () => import('./commands/retention-commands.ts')),
  single(
    'migrate',
    'bring the schema of the database up to date',
    () => import('./commands/migrate-command.ts'),
  ),
  group(
    'receiver',
    'Receive and verify signed events',
    () => import('./commands/receiver-commands.ts'),
  ),
  group(
    'release-data',
    'The releases of systems and browsers that checks compare with',
    () => import('./commands/release-data-commands.ts'),
  ),
  group(
    'reporting-queries',
    'Saved SQL over the tables that devices report',
    () => import('./commands/reporting-commands.ts'),
  ),
  single(
    'reporting-tables',
    'the tables that reporting queries can read',
    () => import('./commands/reporting-tables-command.ts'),
  ),
  single(
    'restore',
    'make a backup the database of an empty data folder',
    () => import('./commands/restore-command.ts'),
  ),
  single(
    'restored',
    'say that the database was restored by other means',
    () => import('./commands/restored-command.ts'),
  ),
  group(
    'secrets',
    'the secrets that the master key seals',
    () => import('./commands/secret-commands.ts'),
  ),
  single('serve', 'run the service', () => import('./commands/serve-command.ts')),
  group(
    'signing-keys',
    'the keys that sign event tokens',
    () => import('./commands/signing-key-commands.ts'),
  ),
  single(
    'simulate',
    'run simulated osquery devices against a service',
    () => import('./commands/simulate-command.ts'),
  ),
  group(
    'sign-in',
    'applications that people sign in to here, the policy and granted sessions',
    () => import('./commands/sign-in-commands.ts'),
  ),
  group(
    'ssf-clients',
    'OAuth clients of the standard Shared Signals surface',
    () => import('./commands/ssf-client-commands.ts'),
  ),
  single(
    'status',
    'how the service is doing: its processes, what waits, and its database',
    () => import('./commands/status-command.ts'),
  ),
  group('streams', 'Shared Signals streams', () => import('./commands/stream-commands.ts')),
  group(
    'webhooks',
    'addresses that are told of events as they happen',
    () => import('./commands/webhook-commands.ts'),
  ),
]

function group(
  name: string,
  description: string,
  load: RegisteredCommand['load'],
): RegisteredCommand {
  return { name, description, hasOptions: false, load }
}

function single(
  name: string,
  description: string,
  load: RegisteredCommand['load'],
): RegisteredCommand {
  return { name, description, hasOptions: true, load }
}
