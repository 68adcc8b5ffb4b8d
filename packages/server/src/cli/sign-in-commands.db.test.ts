import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCommandDatabase, type CommandDatabase } from '../../test/support/command-database.ts'
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

it('refuses an address that people may not be sent back to', async () => {
  const flags = ['--name', 'Evil', '--redirect-uris', 'http://evil.example.com/']
  const { exitCode, told } = await run('applications', 'create', ...flags)
  expect(exitCode).not.toBe(0)
  expect(told).toContain('HTTPS')
})

it('shows the policy and the sessions, and ends none that is not there', async () => {
  const policy = JSON.parse((await run('policy', 'show', '--json')).printed) as object
  expect(policy).toMatchObject({ fallbacks: [], unreachable_device: 'refuse' })
  expect(JSON.parse((await run('sessions', 'list', '--json')).printed)).toEqual([])
  expect((await run('sessions', 'end', 'nothing')).exitCode).not.toBe(0)
})
