import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCommandDatabase, type CommandDatabase } from '../../test/support/command-database.ts'
import { runCommand } from '../../test/support/run-command.ts'
import { SYSTEM_ACTOR } from '../changes/audit/audit-entry.ts'

const URL = 'https://receiver.example.com/webhooks'
const BEFORE = '2026-01-01T00:00:00Z'

let commands: CommandDatabase

beforeAll(async () => {
  commands = await createCommandDatabase()
})
afterAll(() => commands.close())

const run = (...words: string[]) => runCommand(['webhooks', ...words], commands.environment)

async function create(...events: string[]): Promise<string> {
  const flags = ['--name', 'Tickets', '--url', URL, '--event', ...events, '--json']
  const { printed } = await run('create', ...flags)
  return (JSON.parse(printed) as { id: string }).id
}

const show = async (id: string) =>
  JSON.parse((await run('show', id, '--json')).printed) as Record<string, unknown>

/** Something that webhooks are told of as an entry of the audit log. */
const recordEntries = (count: number) =>
  commands.services.runChange({ actor: SYSTEM_ACTOR }, async (change) => {
    for (let index = 0; index < count; index += 1) {
      change.recordAudit({ action: 'test.done', target: null, description: 'did something' })
    }
  })

it('changes what is named of a webhook, and leaves the rest', async () => {
  const id = await create('issues.new')
  const before = await show(id)
  const flags = ['--rate-limit', '5', '--header', 'x-a=1', 'x-b=2', '--description', 'For Jira']
  const changed = await run('update', id, ...flags)
  expect([changed.exitCode, changed.printed]).toEqual([0, `Changed the webhook Tickets (${id}).\n`])
  const after = await show(id)
  expect(after).toEqual({
    ...before,
    rate_limit_per_second: 5,
    header_names: ['x-a', 'x-b'],
    description: 'For Jira',
    updated_at: expect.any(String) as string,
  })
  await run('update', id, '--name', 'Jira', '--event', 'issues.resolved', '--url', `${URL}/2`)
  await run('update', id, '--without-rate-limit', '--without-headers', '--description', '')
  expect(await show(id)).toMatchObject({
    name: 'Jira',
    url: `${URL}/2`,
    events: ['issues.resolved'],
    rate_limit_per_second: null,
    header_names: [],
    description: null,
  })
})

it.each([
  ['nothing', [], 'Name something to change'],
  ['an unknown event', ['--event', 'issues.gone'], 'events.0'],
  ['a private address', ['--url', 'https://127.0.0.1/'], 'cannot be posted'],
  ['a header without a value', ['--header', 'x-a'], 'name=value'],
  ['a limit and none', ['--rate-limit', '5', '--without-rate-limit'], 'cannot be used with'],
])('refuses to change a webhook to %s', async (_what, flags, words) => {
  const id = await create('issues.new')
  const before = await show(id)
  const { exitCode, told } = await run('update', id, ...flags)
  expect([exitCode > 0, told]).toEqual([true, expect.stringContaining(words)])
  expect(await show(id)).toEqual(before)
})

it('lists webhooks in lines that can be read, whatever they ask for', async () => {
  await create('issues.new', 'issues.resolved', 'devices.created', 'webhook.failing')
  const { printed } = await run('list')
  const lines = printed.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^ID +NAME +STATE +WAITING +DEAD +EVENTS +URL$/)
  expect(lines.at(-1)).toContain('issues.new, issues.resolved and 2 more')
  for (const line of lines) expect(line.length).toBeLessThan(140)
})

it.each(['x', '0', '9'.repeat(30)])('refuses to begin a list after %s', async (after) => {
  const { exitCode, told } = await run('deliveries', await create('issues.new'), '--after', after)
  expect([exitCode, told]).toEqual([2, expect.stringContaining('Give the id of a record')])
})

it('counts what a recovery would queue, queues it, and gives it up', async () => {
  const id = await create('audit_log.recorded')
  await run('disable', id)
  await recordEntries(3)
  const preview = await run('recover', id, '--since', BEFORE, '--dry-run', '--json')
  const { count } = JSON.parse(preview.printed) as { count: number }
  // Switching it off is one more.
  expect(count).toBeGreaterThanOrEqual(3)
  expect((await run('recover', id, '--since', BEFORE, '--dry-run')).printed).toBe(
    `${count} events would be queued: 0 that failed for good, ${count} that happened while the webhook was off.\n`,
  )
  await run('enable', id)
  const recovered = await run('recover', id, '--since', BEFORE, '--json')
  const queued = (JSON.parse(recovered.printed) as { count: number }).count
  expect(queued).toBeGreaterThanOrEqual(count)
  const waiting = (await show(id))['queued_count']
  const dead = await run('discard', id, '--state', 'dead', '--json')
  expect(JSON.parse(dead.printed)).toEqual({ count: 0 })
  const discarded = await run('discard', id, '--json')
  expect(JSON.parse(discarded.printed)).toEqual({ count: waiting })
})

it('gives up the deliveries of a webhook that is off', async () => {
  const id = await create('audit_log.recorded')
  await recordEntries(2)
  await run('disable', id)
  const { queued_count: count } = await show(id)
  expect(count).toBeGreaterThanOrEqual(2)
  const flags = ['discard', '--webhook', id, '--json']
  const { exitCode, printed } = await runCommand(['deliveries', ...flags], commands.environment)
  expect([exitCode, JSON.parse(printed)]).toEqual([0, { count }])
  expect(await show(id)).toMatchObject({ enabled: false, queued_count: 0 })
})
