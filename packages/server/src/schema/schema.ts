/*
 * The rows of the database, table by table, as `migrations/` define them. `bigint` columns are
 * decimal strings, `timestamptz` columns are Dates, `jsonb` columns are parsed values that are
 * written as JSON text. Written by hand for their closed words and JSON shapes; tables.db.test.ts compares them
 * with the database (docs/adr/0008-libraries.md).
 */
import type { IdempotencyTables } from '../platform/db/idempotency-tables.ts'
import type { AuditTables } from './tables/audit-tables.ts'
import type { CheckTables } from './tables/check-tables.ts'
import type { DatabaseTables } from './tables/database-tables.ts'
import type { DeliveryTables } from './tables/delivery-tables.ts'
import type { DeviceQuestionTables } from './tables/device-question-tables.ts'
import type { DeviceTables } from './tables/device-tables.ts'
import type { GrantedSessionTables } from './tables/granted-session-tables.ts'
import type { IssueTables } from './tables/issue-tables.ts'
import type { LiveQueryTables } from './tables/live-query-tables.ts'
import type { OrganisationTables } from './tables/organisation-tables.ts'
import type { PersonTables } from './tables/person-tables.ts'
import type { ReportingTables } from './tables/reporting-tables.ts'
import type { SignInTables } from './tables/sign-in-tables.ts'
import type { SigningKeyTables } from './tables/signing-key-tables.ts'
import type { SsfClientTables } from './tables/ssf-client-tables.ts'
import type { SsfStreamTables } from './tables/ssf-stream-tables.ts'
import type { WebhookTables } from './tables/webhook-tables.ts'

/** Every table of the database. */
export interface Schema
  extends
    AuditTables,
    CheckTables,
    DatabaseTables,
    DeliveryTables,
    DeviceQuestionTables,
    DeviceTables,
    IdempotencyTables,
    IssueTables,
    LiveQueryTables,
    OrganisationTables,
    PersonTables,
    ReportingTables,
    GrantedSessionTables,
    SignInTables,
    SigningKeyTables,
    SsfClientTables,
    SsfStreamTables,
    WebhookTables {}
