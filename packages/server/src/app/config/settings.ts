/*
 * Every setting of the service: its variable, its flag, its default and its meaning. The reference
 * in docs/configuration.md is generated from here. Nothing is read here; see load-config.ts.
 */
import type { RetentionFacts } from '../../schema/retention-facts.ts'
import { RETENTION, type SettableRetention } from '../../schema/retention.ts'
import { DATABASE_SETTINGS } from './database-settings.ts'
import {
  browserPorts,
  choice,
  httpOrigin,
  integer,
  masterKeys,
  names,
  networks,
  optionalText,
  roles,
  SettingProblem,
  targets,
  text,
  type SettingValue,
} from './setting-values.ts'
import { STREAM_SETTINGS } from './stream-settings.ts'

/** One setting. `env` is the variable; the flag is derived from it (`HELIOGRAPH_PORT`: `--port`). */
export interface SettingDefinition<Value = unknown> extends SettingValue<Value> {
  readonly env: string
  readonly description: string
  readonly isSecret?: boolean
}

const RETENTION_DAYS_MAX = 3_650

/** Where a secret setting may stand instead, so that it shows neither in a list of processes nor in an environment. */
export interface FileSetting {
  readonly env: string
  readonly description: string
}

/** The settings by their name in the code. */
export const SETTINGS = {
  baseUrl: {
    env: 'HELIOGRAPH_BASE_URL',
    description:
      'What the world calls the service: the address in links, in `iss` and in enrollment. Without a path; plain HTTP is accepted for loopback addresses only.',
    defaultText: '`http://127.0.0.1:8080` (with the port and scheme that are set)',
    ...httpOrigin,
  },
  host: {
    env: 'HELIOGRAPH_HOST',
    description: 'The address to listen on.',
    ...text('127.0.0.1'),
  },
  port: {
    env: 'HELIOGRAPH_PORT',
    description: 'The port to listen on; 0 takes a free one.',
    ...integer(0, 65_535, 8080),
  },
  tlsCert: {
    env: 'HELIOGRAPH_TLS_CERT',
    description:
      'The file of the server certificate (PEM, with its chain), or `self-signed`: then the service makes its own authority and certificate in the data folder.',
    ...optionalText,
  },
  tlsKey: {
    env: 'HELIOGRAPH_TLS_KEY',
    description: 'The file of the private key of the certificate (PEM).',
    ...optionalText,
  },
  dataDir: {
    env: 'HELIOGRAPH_DATA_DIR',
    description: 'The folder that holds the embedded database, the master key and certificates.',
    ...text('./data'),
  },
  postgresPrograms: {
    env: 'HELIOGRAPH_POSTGRES_PROGRAMS',
    description:
      'Which PostgreSQL programs run the embedded database: `auto` takes those of the operating system where they are of the same major version and newer than those that came with the service, `bundled` the latter; else the folder that holds `postgres` and `initdb`.',
    ...text('auto'),
  },
  ...DATABASE_SETTINGS,
  reportingResultBytesMax: {
    env: 'HELIOGRAPH_REPORTING_RESULT_BYTES_MAX',
    description:
      'The largest result of a reporting query, and of all results in one answer, in bytes of JSON.',
    ...integer(65_536, 134_217_728, 16_777_216),
  },
  databasePoolMax: {
    env: 'HELIOGRAPH_DATABASE_POOL_MAX',
    description:
      'The most database connections in the pool of one process. Besides, it opens one that listens, six for deliveries as a worker, and up to two for reporting queries.',
    ...integer(2, 500, 20),
  },
  masterKey: {
    env: 'HELIOGRAPH_MASTER_KEY',
    description:
      'The key that seals secrets at rest: 32 bytes in base64; former keys may follow it. Without it, a file in the data folder (mode 600) holds one.',
    isSecret: true,
    ...masterKeys,
  },
  auditCheckpointDir: {
    env: 'HELIOGRAPH_AUDIT_CHECKPOINT_DIR',
    description:
      'The folder into which signed checkpoints of the audit log are written; best where the database is not. Default: `audit-checkpoints` in the data folder.',
    ...optionalText,
  },
  allowedTargets: {
    env: 'HELIOGRAPH_ALLOWED_TARGETS',
    description:
      'Hosts, addresses or CIDR ranges, separated by commas, that requests of the service (deliveries, to identity providers, to applications) may reach although they are private, plain HTTP, or at another port than 443 and 8443.',
    ...targets,
  },
  extraCa: {
    env: 'HELIOGRAPH_EXTRA_CA',
    description:
      'A PEM file of certificate authorities to trust for these requests, besides the usual.',
    ...optionalText,
  },
  rateLimitPerMinute: {
    env: 'HELIOGRAPH_RATE_LIMIT_PER_MINUTE',
    description: 'How many API requests one key may make in any 60 seconds.',
    ...integer(1, 10_000_000, 270),
  },
  roles: {
    env: 'HELIOGRAPH_ROLES',
    description: 'What this process does: `api`, `agents`, `worker`, separated by commas.',
    ...roles,
  },
  logLevel: {
    env: 'HELIOGRAPH_LOG_LEVEL',
    description: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    ...choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  },
  adminPort: {
    env: 'HELIOGRAPH_ADMIN_PORT',
    description: 'The loopback port of Prometheus metrics (`/metrics`); 0 switches it off.',
    ...integer(0, 65_535, 0),
  },
  trustedProxies: {
    env: 'HELIOGRAPH_TRUSTED_PROXIES',
    description:
      'Addresses or CIDR ranges of reverse proxies, separated by commas, whose `X-Forwarded-For` is believed, and which may ask about requests to sites (forward authentication).',
    ...networks,
  },
  checkIntervalSeconds: {
    env: 'HELIOGRAPH_CHECK_INTERVAL_SECONDS',
    description: 'How often every check runs on every device.',
    ...integer(1, 604_800, 3600),
  },
  checkInIntervalSeconds: {
    env: 'HELIOGRAPH_CHECK_IN_INTERVAL_SECONDS',
    description:
      'How long a device waits between two requests for work (`distributed_interval` of osquery).',
    ...integer(1, 3600, 5),
  },
  checkInHoldSeconds: {
    env: 'HELIOGRAPH_CHECK_IN_HOLD_SECONDS',
    description:
      'For how long a request for work is held while there is none, so that work reaches the device at once; 0 answers every request at once. A proxy in front of the service must wait longer than this for an answer.',
    ...integer(0, 12, 10),
  },
  nodeKeyAliveSeconds: {
    env: 'HELIOGRAPH_NODE_KEY_ALIVE_SECONDS',
    description:
      'For how long after its last use a node key counts as alive. A machine that enrolls as a device whose key is alive waits for the approval of an admin; 0 lets every machine with an enrollment secret take the place of a device.',
    ...integer(0, 31_536_000, 259_200),
  },
  refusedTables: {
    env: 'HELIOGRAPH_REFUSED_TABLES',
    description:
      'Tables and functions of osquery that live queries and drafts of checks may not name, separated by commas, because they send requests from devices or collect their files; `none` refuses none. Checks that were published before stay.',
    ...names('carve,carves,curl,curl_certificate'),
  },
  signInTimeoutSeconds: {
    env: 'HELIOGRAPH_SIGN_IN_TIMEOUT_SECONDS',
    description:
      'How long nothing may happen in a sign-in until it counts as abandoned, where whoever opens it says nothing else.',
    ...integer(10, 86_400, 900),
  },
  probePorts: {
    env: 'HELIOGRAPH_PROBE_PORTS',
    description:
      'A range of ports, such as `42000-42063`, on the address of `HELIOGRAPH_HOST`, with the certificate of the service. When somebody signs in, the browser opens three of them, and osquery says on which device it runs. They must be reachable under the name in `HELIOGRAPH_BASE_URL` past every HTTP proxy. With `off` no device is proven live; sign-ins go by the fallbacks of the sign-in policy.',
    ...browserPorts,
  },
  deviceDeletionDelaySeconds: {
    env: 'HELIOGRAPH_DEVICE_DELETION_DELAY_SECONDS',
    description:
      'How long the deletion of a device can be cancelled after it was requested; its agent is disabled at once.',
    ...integer(0, 2_592_000, 600),
  },
  ...STREAM_SETTINGS,
  webhooksMax: {
    env: 'HELIOGRAPH_WEBHOOKS_MAX',
    description: 'How many webhooks may exist.',
    ...integer(1, 10_000, 100),
  },
  bodyBytesMax: {
    env: 'HELIOGRAPH_BODY_BYTES_MAX',
    description: 'The largest body of an API request, in bytes.',
    ...integer(1_024, 104_857_600, 1_048_576),
  },
  agentLogBytesMax: {
    env: 'HELIOGRAPH_AGENT_LOG_BYTES_MAX',
    description:
      'How much of one log message of a device is read, in bytes after decompression. What is beyond is left out and told to admins; the agent would send it again for ever.',
    ...integer(65_536, 1_073_741_824, 67_108_864),
  },
  deliveryConcurrency: {
    env: 'HELIOGRAPH_DELIVERY_CONCURRENCY',
    description: 'How many deliveries to one receiver may be under way at once in one process.',
    ...integer(1, 1_000, 32),
  },
  pushFallbackMinutes: {
    env: 'HELIOGRAPH_PUSH_FALLBACK_MINUTES',
    description:
      'After how many minutes of nothing but failures the events of streams that fall back can be polled.',
    ...integer(1, 10_080, 60),
  },
  signingKeyBits: {
    env: 'HELIOGRAPH_SIGNING_KEY_BITS',
    description: 'The size of new RSA signing keys: 2048 or 3072.',
    ...choice([2048, 3072], 2048),
  },
  signingKeyLeadSeconds: {
    env: 'HELIOGRAPH_SIGNING_KEY_LEAD_SECONDS',
    description:
      'How long a new signing key is published before it signs; longer than receivers cache the key set.',
    ...integer(300, 604_800, 7_200),
  },
  signingKeyRotationDays: {
    env: 'HELIOGRAPH_SIGNING_KEY_ROTATION_DAYS',
    description: 'How often the signing key is rotated, in days; 0 rotates by hand only.',
    ...integer(0, 3_650, 90),
  },
  auditRetentionDays: retentionSetting('audit entries'),
  checkTransitionRetentionDays: retentionSetting('check transitions'),
  statusTransitionRetentionDays: retentionSetting('status transitions'),
  resolvedIssueRetentionDays: retentionSetting('resolved issues'),
  signInRetentionDays: retentionSetting('sign-ins'),
  liveQueryResultRetentionDays: retentionSetting('live query results'),
  deliveryRetentionDays: retentionSetting('deliveries'),
  deliveryPayloadRetentionDays: retentionSetting('delivery payloads'),
  waitingEventRetentionDays: retentionSetting('waiting events'),
  webhookPayloadRetentionDays: retentionSetting('webhook payloads'),
} satisfies Record<string, SettingDefinition>

export type SettingName = keyof typeof SETTINGS

/** For how many days a policy of retention keeps. */
function retentionSetting(name: SettableRetention): SettingDefinition<number> {
  const { description, keeps }: RetentionFacts = RETENTION[name]
  if (!('setting' in keeps)) throw new Error(`no setting changes the retention of ${name}`)
  const { setting: env, days, daysMin, daysLeast = daysMin } = keeps
  const value = integer(daysMin, RETENTION_DAYS_MAX, days)
  return {
    env,
    description: `Days to keep. ${description}`,
    ...value,
    parse: (given) => {
      const parsed = value.parse(given)
      if (parsed === 0 || parsed >= daysLeast) return parsed
      throw new SettingProblem(`must be 0 or from ${daysLeast} to ${RETENTION_DAYS_MAX}`)
    },
  }
}

/** The command-line flag of a setting: `--base-url` for `HELIOGRAPH_BASE_URL`. */
export function toFlag(env: string): string {
  return `--${env
    .replace(/^HELIOGRAPH_/, '')
    .toLowerCase()
    .replaceAll('_', '-')}`
}

/** The form of a secret setting that names a file: `HELIOGRAPH_MASTER_KEY_FILE`; undefined for the others. */
export function toFileSetting({ env, isSecret }: SettingDefinition): FileSetting | undefined {
  if (isSecret !== true) return undefined
  return {
    env: `${env}_FILE`,
    description: `A file that holds \`${env}\`, for instead of it. Read when the process starts.`,
  }
}
