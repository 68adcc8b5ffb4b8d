/* Every page of the console, on a world with one record of everything. */
import { toContractService } from '../../contract/contract-service.ts'
import { createContractWorld, type ContractWorld } from '../../contract/contract-world.ts'
import type { ComposedApi } from '../../support/composed-api.ts'

/** What the world makes only for who asks for it. */
async function makeMore(contract: ContractWorld) {
  const { ids, call, newDelivery, newWebhook, newBrowserKey, newEntraAccount, unique } = contract
  await newBrowserKey(ids.person, ids.device, 'Firefox')
  await newEntraAccount(ids.person)
  const { streamId, eventId } = await newDelivery()
  await call('POST', `/ssf_streams/${streamId}/remove_subject`, { device_id: ids.device })
  const webhook = await newWebhook()
  const { event_id: webhookEvent } = await call('POST', `/webhooks/${webhook}/test`)
  const keyBody = { name: unique('Key'), responsible_email: 'grace@example.com' }
  const { id: key } = await call('POST', '/api_keys', keyBody)
  await call('POST', '/enrollment_secrets', { name: unique('Laptops') })
  const { id: client } = await call('POST', '/ssf_clients', { name: unique('Receiver') })
  const { data } = await call('GET', '/reporting/tables')
  const [table] = data as { name: string }[]
  return {
    streamId,
    eventId,
    webhook,
    webhookEvent: String(webhookEvent),
    key: String(key),
    client: String(client),
    table: table?.name ?? '',
  }
}

type Ids = ContractWorld['ids'] & Awaited<ReturnType<typeof makeMore>>

/** The path of each page, by what it shows. */
const PAGES = {
  now: () => '/',
  devices: () => '/devices',
  device: ({ device }) => `/devices/${device}`,
  'device-checks': ({ device }) => `/devices/${device}?tab=checks`,
  'device-sign-ins': ({ device }) => `/devices/${device}?tab=sign-ins`,
  'device-ask': ({ device }) => `/devices/${device}?tab=ask`,
  people: () => '/people',
  person: ({ person }) => `/people/${person}`,
  'people-deprovisioned': () => '/people/deprovisioned',
  groups: () => '/groups',
  group: ({ deviceGroup }) => `/groups/${deviceGroup}`,
  'groups-people': () => '/groups/people',
  'group-people': ({ personGroup }) => `/groups/people/${personGroup}`,
  'live-queries': () => '/live-queries',
  'live-query': ({ campaign }) => `/live-queries/${campaign}`,
  'live-query-new': () => '/live-queries/new',
  'live-query-edit': ({ campaign }) => `/live-queries/${campaign}/edit`,
  reports: () => '/reports',
  report: ({ reportingQuery }) => `/reports/${reportingQuery}`,
  'report-new': () => '/reports/new',
  'report-edit': ({ reportingQuery }) => `/reports/${reportingQuery}/edit`,
  'report-tables': () => '/reports/tables',
  'report-table': ({ table }) => `/reports/tables/${table}`,
  checks: () => '/checks',
  check: ({ check }) => `/checks/${check}`,
  'check-results': ({ check }) => `/checks/${check}/results`,
  'check-strategy': ({ check }) => `/checks/${check}/strategy`,
  drafts: () => '/checks/drafts',
  draft: ({ draft }) => `/checks/drafts/${draft}`,
  issues: () => '/issues',
  issue: ({ issue }) => `/issues/${issue}`,
  requests: () => '/requests',
  request: ({ exemptionRequest }) => `/requests?open=${exemptionRequest}`,
  'requests-sign-ins': () => '/requests/sign-ins',
  'sign-ins': () => '/sign-ins',
  'sign-in-of-person': ({ authLog }) => `/sign-ins/${authLog}`,
  streams: () => '/signals/streams',
  'stream-new': () => '/signals/streams/new',
  stream: ({ streamId }) => `/signals/streams/${streamId}`,
  'stream-subjects': ({ streamId }) => `/signals/streams/${streamId}?tab=subjects`,
  'stream-replay': ({ streamId }) => `/signals/streams/${streamId}?tab=replay`,
  'stream-edit': ({ streamId }) => `/signals/streams/${streamId}/edit`,
  webhooks: () => '/signals/webhooks',
  'webhook-new': () => '/signals/webhooks/new',
  webhook: ({ webhook }) => `/signals/webhooks/${webhook}`,
  'webhook-secret': ({ webhook }) => `/signals/webhooks/${webhook}?tab=secret`,
  'webhook-edit': ({ webhook }) => `/signals/webhooks/${webhook}/edit`,
  deliveries: () => '/signals/deliveries',
  'delivery-stream': ({ streamId, eventId }) =>
    `/signals/deliveries/streams/${streamId}/${eventId}`,
  'delivery-webhook': ({ webhook, webhookEvent }) =>
    `/signals/deliveries/webhooks/${webhook}/${webhookEvent}`,
  find: ({ device }) => `/signals/find?query=${device}`,
  'ssf-clients': () => '/signals/clients',
  'ssf-client-new': () => '/signals/clients/new',
  'ssf-client': ({ client }) => `/signals/clients/${client}`,
  'ssf-client-edit': ({ client }) => `/signals/clients/${client}/edit`,
  keys: () => '/signals/keys',
  'audit-log': () => '/audit-log',
  'audit-entry': ({ auditLog }) => `/audit-log/${auditLog}`,
  settings: () => '/settings',
  organisation: () => '/settings/organisation',
  admins: () => '/settings/admins',
  admin: ({ admin }) => `/settings/admins/${admin}`,
  'identity-provider': () => '/settings/identity-provider',
  enrollment: () => '/settings/enrollment',
  'developers-keys': () => '/settings/developers/api-keys',
  'developers-streams': () => '/settings/developers/ssf-streams',
  'developers-webhooks': () => '/settings/developers/webhooks',
  'api-key': ({ key }) => `/settings/api-keys/${key}`,
  'sign-in-applications': () => '/settings/sign-in',
  'sign-in-wizard': () => '/settings/sign-in/new',
  'sign-in-upstreams': () => '/settings/sign-in/upstream-providers',
  'sign-in-policy': () => '/settings/sign-in/policy',
  'sign-in-sessions': () => '/settings/sign-in/sessions',
  'sign-in-browsers': () => '/settings/sign-in/browsers',
  'sign-in-entra': () => '/settings/sign-in/entra-accounts',
  scim: () => '/settings/scim',
  retention: () => '/settings/retention',
  account: () => '/settings/account',
  'trusted-device': () => '/trusted-device',
} satisfies Readonly<Record<string, (ids: Ids) => string>>

export type PageName = keyof typeof PAGES

export interface EveryPage {
  readonly toPath: (name: PageName) => string
  readonly close: () => Promise<void>
}

/** The names of all pages. */
export const PAGE_NAMES = Object.keys(PAGES) as readonly PageName[]

/** Makes one record of everything that a page shows. Close it. */
export async function makeEveryPage(api: ComposedApi): Promise<EveryPage> {
  const world = await createContractWorld(await toContractService(api))
  const ids = { ...world.ids, ...(await makeMore(world)) }
  return { toPath: (name) => PAGES[name](ids), close: () => world.close() }
}
