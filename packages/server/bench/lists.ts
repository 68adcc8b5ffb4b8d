/*
 * How fast the lists of the API are at full size: every list with each of its searches, and devices
 * beside what SQL alone and a bare server take. From the real service over HTTP with an API key.
 */
import { createSecretKey } from 'node:crypto'
import { SYSTEM_ACTOR } from '../src/changes/audit/audit-entry.ts'
import { createAdmin } from '../src/organisation/admins/create-admin.ts'
import { createApiKey } from '../src/organisation/api-keys/create-api-key.ts'
import { PERMISSIONS } from '../src/schema/permissions.ts'
import { deriveKey } from '../src/platform/secrets/master-key.ts'
import { REPORTING_TABLES } from '../src/posture/reporting/reporting-tables.ts'
import { tableRecordList } from '../src/posture/reporting/table-record-read.ts'
import type { ServiceFoundation } from '../src/app/foundation.ts'
import { measureDeviceLists } from './device-lists.ts'
import { measureEveryList } from './every-list.ts'
import { measureIndexBytes } from './index-bytes.ts'
import { createListClient, type ListClient } from './list-client.ts'
import { insertListData, toListDataSize, type ListIds } from './list-data.ts'
import { findLists, findParents, type ListDocument, type PublishedList } from './list-searches.ts'
import type { BenchRun, Measurement, Scenario } from './scenario.ts'
import { asOwner } from './owner-database.ts'
import { startServiceUnderTest } from './service-under-test.ts'

export const lists: Scenario = {
  title: 'GET of every list, 100 records per page',
  run: measure,
}

async function measure(run: BenchRun): Promise<Measurement[]> {
  const size = toListDataSize(run.scale)
  run.progress(
    `filling a database: ${size.devices} devices, ${size.devices * size.resultsPerDevice} results, ${size.authLogs} sign-ins, ${size.auditEntries} audit entries`,
  )
  let prepared: { readonly key: string; readonly ids: ListIds } | undefined
  const service = await startServiceUnderTest(run, {
    environment: { HELIOGRAPH_RATE_LIMIT_PER_MINUTE: '10000000' },
    prepare: async (services) => {
      const ids = await asOwner(services, (db) => insertListData(db, size))
      await services.auditChainer.flush()
      prepared = { key: await createKey(services), ids }
    },
  })
  if (prepared === undefined) throw new Error('the service started without its data')
  const { key, ids } = prepared
  const { masterKeys } = service.services
  const client = createListClient(run, {
    url: service.url,
    key,
    cursorKey: createSecretKey(deriveKey(masterKeys.current, 'list cursors')),
  })
  return [
    ...(await measureDeviceLists(run, { client, db: service.services.db, devices: size.devices })),
    ...(await measureIndexBytes(service.services.db)),
    ...(await measureEveryList(run, client, await listPublished(client, ids))),
  ]
}

async function createKey({ runChange, sealer }: ServiceFoundation): Promise<string> {
  const { key } = await runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    const email = 'bench@example.com'
    await createAdmin(change, { email, firstName: 'Bench', lastName: 'Admin', access: 'full' })
    const permissions = PERMISSIONS.map((permission) => ({ permission, rationale: 'Benchmark.' }))
    const newKey = { name: 'Bench', responsibleEmail: email, permissions, expiresAt: null }
    return createApiKey(change, sealer, newKey)
  })
  return key
}

async function listPublished(client: ListClient, known: ListIds): Promise<PublishedList[]> {
  const document = (await client.getJson('/openapi.json')) as ListDocument
  const ids = { ...(await findFirstIds(client, findParents(document))), ...known }
  const table = REPORTING_TABLES.find(({ name }) => name === ids['/reporting/tables'])
  const fields = table === undefined ? [] : tableRecordList(table).fields
  const lists = findLists(document, ids, {
    '/reporting/tables/{name}/table_records': fields.flatMap(({ name, operators }) =>
      operators.map((operator) => `${name}${operator}`),
    ),
  })
  return lists.filter(({ isForKeys }) => isForKeys)
}

async function findFirstIds(client: ListClient, collections: readonly string[]): Promise<ListIds> {
  const entries: [string, string][] = []
  for (const collection of collections) {
    const { data } = (await client.getJson(collection)) as { data: { id?: string | number }[] }
    const id = data[0]?.id
    if (id !== undefined) entries.push([collection, String(id)])
  }
  return Object.fromEntries(entries)
}
