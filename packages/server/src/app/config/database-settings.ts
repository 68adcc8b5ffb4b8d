/* The settings of the ways to the database. */
import { postgresUrl, standbyUrl } from './postgres-url.ts'
import { integer } from './setting-values.ts'

/** The settings by their name in the code. */
export const DATABASE_SETTINGS = {
  databaseUrl: {
    env: 'DATABASE_URL',
    description:
      'A PostgreSQL 15 or newer to use instead of the embedded one. Of several servers (`host1:5432,host2:5432`) the one that takes writes is used.',
    isSecret: true,
    ...postgresUrl,
  },
  databaseReadUrl: {
    env: 'DATABASE_READ_URL',
    description:
      'A standby of the database of `DATABASE_URL` that answers lists and single records of the API, while it has everything that the primary had when the request began; else the primary does.',
    isSecret: true,
    ...standbyUrl,
  },
  databaseSessionUrl: {
    env: 'HELIOGRAPH_DATABASE_SESSION_URL',
    description:
      'The database of `DATABASE_URL` past a connection pooler in transaction mode. Notifications and locks of a session need it; everything else goes through the pooler.',
    isSecret: true,
    ...postgresUrl,
  },
  failoverRestatementSeconds: {
    env: 'HELIOGRAPH_FAILOVER_RESTATEMENT_SECONDS',
    description:
      'After a standby has taken over that had everything, receivers are told anew of the devices whose status changed within so many seconds before; 0 tells of none. After one that may lack something they are told of every device.',
    ...integer(0, 86_400, 600),
  },
  migrationDatabaseUrl: {
    env: 'HELIOGRAPH_MIGRATION_DATABASE_URL',
    description:
      'The database of `DATABASE_URL` as the role that owns its tables. Migrations run as it, and the role of `DATABASE_URL` gets the rights that the service needs and none to change the audit log.',
    isSecret: true,
    ...postgresUrl,
  },
  reportingDatabaseUrl: {
    env: 'HELIOGRAPH_REPORTING_DATABASE_URL',
    description:
      'The database of `DATABASE_URL` as the role that reporting queries run as. Needed where the role of `DATABASE_URL` may not make roles.',
    isSecret: true,
    ...postgresUrl,
  },
} as const
