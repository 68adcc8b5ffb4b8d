import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCommandDatabase, type CommandDatabase } from '../../test/support/command-database.ts'
import { newSecret } from '../platform/ids.ts'
import { runCommand } from '../../test/support/run-command.ts'

let commands: CommandDatabase
beforeAll(async () => {
  commands = await createCommandDatabase()
})
afterAll(() => commands.close())

const run = (...words: string[]) => runCommand(['sign-in', ...words], commands.environment)

it('sets an application up, gives it another secret and removes it', async () => {
  const flags = ['--name', 'Wiki', '--redirect-uris', 'https://wiki.example.com/callback']
  const made = JSON.parse((await run('applications', 'create', ...flags, '--json')).printed) as {
    client_id: string
    client_secret: string
  }
  expect(made.client_secret).toMatch(/^hgs_/)
  const listed = await run('applications', 'list')
  expect(listed.printed).toContain(made.client_id)
  expect(listed.printed).not.toContain('hgs_')
  const rotated = await run('applications', 'rotate-secret', made.client_id)
  expect(rotated.printed).toMatch(/^hgs_/)
  expect(rotated.printed).not.toContain(made.client_secret)
  expect((await run('applications', 'remove', made.client_id)).exitCode).toBe(0)
  expect((await run('applications', 'remove', made.client_id)).exitCode).not.toBe(0)
})

it('changes an application, also by its client id', async () => {
  const tenant = ['--entra-tenant-id', '0b2b1a5e-6f4a-4c3b-9d3e-5a0f7f3c2b1d']
  const app = ['--entra-app-id', '7c9e6679-7425-40de-944b-e07fc1f90ae7']
  const flags = ['--name', 'Entra', '--kind', 'entra', ...tenant, ...app]
  const made = JSON.parse((await run('applications', 'create', ...flags, '--json')).printed) as {
    client_id: string
    client_secret: string | null
  }
  expect(made.client_secret).toBeNull()
  const set = await run(
    ...[
      'applications',
      'set',
      made.client_id,
      '--enabled',
      'off',
      '--session-seconds',
      '600',
      '--serial',
      'on',
    ],
    '--json',
  )
  expect(JSON.parse(set.printed)).toMatchObject({
    enabled: false,
    session_seconds: 600,
    serial_claimed: true,
    kind: 'entra',
  })
  const wrong = await run('applications', 'set', made.client_id, '--mode', 'broker')
  expect(wrong.exitCode).not.toBe(0)
})

it('sets an upstream provider up from a file with its secret, and removes it', async () => {
  const file = join(tmpdir(), `secret-${newSecret(6)}`)
  await writeFile(file, 'not to be printed\n')
  const flags = [
    '--name',
    'Office',
    '--issuer',
    'https://login.example.com',
    '--client-id',
    'helio',
  ]
  const secret = ['--client-secret-file', file]
  const made = await run('upstreams', 'create', ...flags, ...secret, '--json')
  await rm(file)
  expect(made.printed).toContain('/sign-in/upstream/callback')
  const { id } = JSON.parse(made.printed) as { id: string }
  const listed = await run('upstreams', 'list', '--json')
  expect(JSON.parse(listed.printed)).toMatchObject([{ id, client_id: 'helio' }])
  expect(made.printed + listed.printed).not.toContain('not to be printed')
  expect((await run('upstreams', 'remove', id)).exitCode).toBe(0)
  expect((await run('upstreams', 'remove', id)).exitCode).not.toBe(0)
})

it('refuses an address that people may not be sent back to', async () => {
  const flags = ['--name', 'Evil', '--redirect-uris', 'http://evil.example.com/']
  const { exitCode, told } = await run('applications', 'create', ...flags)
  expect(exitCode).not.toBe(0)
  expect(told).toContain('HTTPS')
})

it('shows the policy and the sessions, and ends none that is not there', async () => {
  const policy = JSON.parse((await run('policy', 'show', '--json')).printed) as object
  expect(policy).toMatchObject({ fallbacks: [], unreachable_device: 'refuse' })
  const set = await run(
    ...['policy', 'set', '--fallbacks', 'admin_approval,registered_device'],
    ...['--unreachable-device', 'last_known', '--json'],
  )
  const fallbacks = ['admin_approval', 'registered_device']
  expect(JSON.parse(set.printed)).toMatchObject({ fallbacks, unreachable_device: 'last_known' })
  const wrong = await run('policy', 'set', '--fallbacks', 'anybody')
  expect(wrong.told).toContain('registered_device, certificate')
  expect((await run('policy', 'set', '--fallbacks', 'none')).printed).toContain('fallbacks')
  expect((await run('policy', 'set', '--break-glass-group', '77')).exitCode).not.toBe(0)
  expect(JSON.parse((await run('sessions', 'list', '--json')).printed)).toEqual([])
  expect((await run('sessions', 'end', 'nothing')).exitCode).not.toBe(0)
})
