import {
  createReportingQuery,
  removeReportingQuery,
} from '../../posture/reporting/create-reporting-query.ts'
import { listReportingQueries } from '../../posture/reporting/reporting-query-store.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { commandGroup, databaseCommand } from '../command.ts'
import { option } from '../option.ts'

const create = databaseCommand({
  name: 'create',
  description: 'save a query',
  options: {
    name: option('--name <name>', 'what the query answers').required(),
    sql: option('--sql <select>', 'one SELECT over the reporting tables').required(),
  },
  run: ({ change, options }) => change((tx) => createReportingQuery(tx, options)),
  json: ({ id, name, sql }) => ({ id, name, sql }),
  text: ({ name, id }) => `Saved the reporting query ${name} (${id}).`,
})

const list = databaseCommand({
  name: 'list',
  description: 'list the saved queries',
  run: ({ services }) => listReportingQueries(services.db, EVERYTHING),
  json: (queries) => queries.map(({ id, name, sql }) => ({ id, name, sql })),
  text: (queries) =>
    toTable(queries, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      SQL: ({ sql }) => sql.replace(/\s+/g, ' '),
    }),
})

const remove = databaseCommand({
  name: 'delete <id>',
  description: 'delete a saved query and its results',
  run: ({ args, change }) => change((tx) => removeReportingQuery(tx, args.id)),
  json: ({ id }) => ({ id }),
  text: ({ name, id }) => `Deleted the reporting query ${name} (${id}).`,
})

/** `heliograph reporting-queries create|list|delete`. */
export const definition = commandGroup([create, list, remove])
