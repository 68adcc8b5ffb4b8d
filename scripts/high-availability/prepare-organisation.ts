/* An admin's key, the two streams, a check that fails when it is told to, and what the probe changes. */
import type { Services } from './services.ts'
import type { Stream } from './receivers.ts'
import { PROBES } from './write-probe.ts'

const COMPLIANCE_CHANGE =
  'https://schemas.openid.net/secevent/caep/event-type/device-compliance-change'
const PERMISSIONS = [
  'Manage Shared Signals Framework Streams=test',
  'Manage Device Groups=test',
  'Manage Checks=test',
]

export async function prepareOrganisation(
  { baseUrl, processes }: Pick<Services, 'baseUrl' | 'processes'>,
  pushUrl: string,
) {
  const [first] = processes
  const run = async <Result>(...words: string[]) => (await first.command(...words)) as Result
  await run('organisation', 'set', '--compliance-threshold', 'notified')
  const email = 'admin@example.com'
  await run('admins', 'create', '--email', email, '--first-name', 'Ada', '--last-name', 'Admin')
  const permissions = PERMISSIONS.flatMap((permission) => ['--permission', permission])
  const { key } = await run<{ key: string }>(
    ...['keys', 'create', '--name', 'test', '--responsible', email, ...permissions],
  )
  const { secret } = await run<{ secret: string }>('enrollment-secrets', 'create', '--name', 'test')

  const call = createCaller(baseUrl, key)
  const createStream = (name: string, delivery: object) =>
    call<Stream>('POST', '/ssf_streams', {
      name,
      delivery,
      events_requested: [COMPLIANCE_CHANGE],
      heliograph_sequence: true,
    })
  const { data } = await call<{ data: { id: string }[] }>('GET', '/checks?query=slug:firewall')
  const groupUrls: string[] = []
  for (let probe = 0; probe < PROBES; probe += 1) {
    const { id } = await call<{ id: string }>('POST', '/device_groups', { name: `Probe ${probe}` })
    groupUrls.push(`${baseUrl}/device_groups/${id}`)
  }
  return {
    key,
    checkId: data[0]?.id ?? '',
    groupUrls,
    enrollmentSecret: secret,
    pushStream: await createStream('push', {
      method: 'urn:ietf:rfc:8935',
      endpoint_url: pushUrl,
    }),
    pollStream: await createStream('poll', { method: 'urn:ietf:rfc:8936' }),
  }
}

/** Has devices be asked this check alone: an answer is then one result. */
export async function pauseOtherChecks(
  baseUrl: string,
  { checkId, key }: { readonly checkId: string; readonly key: string },
): Promise<void> {
  const call = createCaller(baseUrl, key)
  const { data } = await call<{ data: { id: string }[] }>('GET', '/checks?per_page=100')
  for (const { id } of data) {
    if (id !== checkId) await call('PATCH', `/checks/${id}/configurations`, { paused: true })
  }
}

function createCaller(baseUrl: string, key: string) {
  return async <Result>(method: string, path: string, body?: object): Promise<Result> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`)
    return (await response.json()) as Result
  }
}
