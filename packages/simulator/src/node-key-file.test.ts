import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openNodeKeyFile, toNodeKeyPath } from './node-key-file.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'node-keys-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('keys outlive the run, in a file that only the user reads', async () => {
  const path = join(folder, 'new', 'keys.json')
  const first = await openNodeKeyFile(path)
  first.set('host-1', 'key-1')
  first.set('host-2', 'key-2')
  first.set('host-2', undefined)
  await first.close()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const second = await openNodeKeyFile(path)
  expect([second.get('host-1'), second.get('host-2')]).toEqual(['key-1', undefined])
})

test('two fleets at one service keep the keys of both', async () => {
  const path = join(folder, 'shared.json')
  const [first, second] = [await openNodeKeyFile(path), await openNodeKeyFile(path)]
  first.set('host-1', 'key-1')
  second.set('host-2', 'key-2')
  await first.close()
  await second.close()
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ 'host-1': 'key-1', 'host-2': 'key-2' })
})

test('a file that holds something else has no keys', async () => {
  const path = join(folder, 'broken.json')
  for (const text of ['{', 'null', '[1]', '{"host-1": 1}']) {
    await writeFile(path, text)
    expect((await openNodeKeyFile(path)).get('host-1')).toBeUndefined()
  }
})

test('each service has a file of its own', () => {
  const paths = ['http://127.0.0.1:8080', 'http://127.0.0.1:8081', 'https://trust.example.com']
  expect(new Set(paths.map(toNodeKeyPath)).size).toBe(3)
})
