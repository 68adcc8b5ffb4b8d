import type { Kysely } from 'kysely'
import { z } from 'zod'
import { toWire } from '../../platform/wire/to-wire.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  linkSchema,
  timestampSchema,
  toLink,
  toTimestamp,
} from '../../platform/wire/wire-values.ts'
import { notFound } from '../../platform/app-error.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import { toColumnName, type ReportingTable } from './reporting-table.ts'
import { REPORTING_TABLES } from './reporting-tables.ts'
import { tableRecordList, type TableRecord } from './table-record-read.ts'

const tableSchema = z
  .object({
    name: z.string(),
    category: z.string(),
    description: z.string(),
    column_names: z.array(z.string()),
    searchable_fields: z
      .array(z.string())
      .describe('What the `query` of the records of this table may name.'),
    documentation_url: z.string(),
  })
  .meta({ id: 'ReportingTable' })

const recordSchema = z
  .looseObject({
    id: z.string(),
    device_id: z.string(),
    device_name: z.string(),
    device_information: linkSchema,
    collected_at: timestampSchema,
  })
  .describe('One row; the columns of the table stand beside these, as osquery reports them.')
  .meta({ id: 'TableRecord' })

const TABLES_BY_NAME = new Map(REPORTING_TABLES.map((table) => [table.name, table]))

/** Reading which tables devices report, and what they reported. */
export function reportingTableRoutes(db: Kysely<Schema>, baseUrl: string): ApiRoute[] {
  const shared = { tags: ['Reporting'], permission: null } as const
  return [
    listRoute({
      ...shared,
      path: '/reporting/tables',
      summary: 'List reporting tables',
      item: tableSchema,
      fetch: ({ window: { afterId, limit } }) =>
        Promise.resolve(
          REPORTING_TABLES.filter(({ name }) => afterId === undefined || name > afterId).slice(
            0,
            limit,
          ),
        ),
      toJson: toTableJson,
      keyOf: (table) => table.name,
    }),
    route({
      ...shared,
      method: 'GET',
      path: '/reporting/tables/:name',
      summary: 'Show a reporting table',
      responses: { 200: tableSchema },
      handler: ({ params }) => toTableJson(getTable(params.name)),
    }),
    listRoute({
      ...shared,
      path: '/reporting/tables/:name/table_records',
      summary: 'List what devices reported of a table',
      description:
        'The `searchable_fields` of the table are the fields of `query`: texts with `:` and `~`, `device_id` with `:`, `collected_at` with `:`, `<` and `>`.',
      fieldsOf: ({ name }) => tableRecordList(getTable(name)).fields,
      item: recordSchema,
      fetch: async ({ params, search, window }) => {
        const table = getTable(params.name)
        const records = await tableRecordList(table).listPage(db, { search, window })
        return records.map((record) => ({ ...record, table }))
      },
      toJson: ({ table, ...record }) => toRecordJson(baseUrl, table, record),
    }),
  ]
}

/** @throws AppError `not_found` */
function getTable(name: string): ReportingTable {
  const table = TABLES_BY_NAME.get(name)
  if (table === undefined) throw notFound('reporting table', name)
  return table
}

function toTableJson(table: ReportingTable) {
  return toWire(tableSchema, table, {
    column_names: [
      'device_id',
      'device_name',
      'collected_at',
      ...table.columns.map((column) => toColumnName(table, column)),
    ],
    searchable_fields: tableRecordList(table).fields.map((field) => field.name),
    documentation_url: `https://osquery.io/schema/current/#${table.name}`,
  })
}

function toRecordJson(
  baseUrl: string,
  table: ReportingTable,
  record: TableRecord,
): z.input<typeof recordSchema> {
  const columns = table.columns.map((column): [string, string] => [
    toColumnName(table, column),
    record.columns[column.name] ?? '',
  ])
  return {
    id: record.id,
    device_id: record.deviceId,
    device_name: record.deviceName,
    device_information: toLink(baseUrl, 'devices', record.deviceId),
    collected_at: toTimestamp(record.collectedAt),
    ...Object.fromEntries(columns),
  }
}
