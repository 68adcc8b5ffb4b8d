import { chmod, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDataFolder } from '../../src/index.ts'
import { findLeftover } from '../../src/leftover-server.ts'
import { removeDataFolder } from '../../src/remove-data-folder.ts'

const quiet = () => undefined
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
let dataDir: string

beforeAll(async () => {
  dataDir = join(await realpath(await mkdtemp(join(tmpdir(), 'given-up-start-'))), 'data')
  // As root the server runs as another user, who must be able to pass through.
  await chmod(dirname(dataDir), 0o711)
  await (await open({})).stop()
})
afterAll(() => removeDataFolder(dataDir, log))

const open = (options: { onLaunch?: () => void; signal?: AbortSignal }) =>
  openDataFolder({ dataDir, purpose: 'service', log, ...options })

const findServer = () => findLeftover(join(dataDir, 'postgres', 'cluster'))

it('a start that is given up leaves no server behind, and the data folder to the next', async () => {
  const giving = new AbortController()
  let launches = 0
  const opening = open({
    signal: giving.signal,
    onLaunch: () => {
      launches += 1
      giving.abort()
    },
  })
  await expect(opening).rejects.toThrow()
  expect([launches, await findServer()]).toEqual([1, { kind: 'none' }])
  const next = await open({})
  expect(await findServer()).toMatchObject({ kind: 'running' })
  await next.stop()
})

it('a start that is given up before its time launches no server', async () => {
  let launches = 0
  const signal = AbortSignal.abort(new Error('given up'))
  await expect(open({ signal, onLaunch: () => (launches += 1) })).rejects.toThrow('given up')
  expect([launches, await findServer()]).toEqual([0, { kind: 'none' }])
  await (await open({})).stop()
})

it('a start that is over is given up no more', async () => {
  const giving = new AbortController()
  const folder = await open({ signal: giving.signal })
  giving.abort()
  expect(await findServer()).toMatchObject({ kind: 'running' })
  await folder.stop()
  expect(await findServer()).toEqual({ kind: 'none' })
})
