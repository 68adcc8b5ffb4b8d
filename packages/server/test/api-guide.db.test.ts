/* The guide is true: its commands are sent to the service, and answered as it says. */
import { ERROR_CODES } from '../src/schema/error-codes.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newUuid } from '../src/platform/ids.ts'
import type { Method } from '../src/platform/http/operation.ts'
import {
  startContractService,
  type ContractRequest,
  type ContractService,
} from './contract/contract-service.ts'
import { createContractWorld } from './contract/contract-world.ts'
import { createTestKey } from './support/api-keys.ts'
import { isPermission } from '../src/schema/permissions.ts'

const GUIDE = join(import.meta.dirname, '../../../docs/api.md')

let service: ContractService
let guide: string
let streamId: string
/** With the permissions that the guide gives its key, and no others. */
let guideKey: string
const closers: (() => Promise<void>)[] = []

beforeAll(async () => {
  guide = await readFile(GUIDE, 'utf8')
  service = await startContractService()
  closers.push(service.close)
  const world = await createContractWorld(service)
  closers.push(world.close)
  streamId = world.ids.pollStreamId
  const named = [...guide.matchAll(/--permission "([^"=]+)=/g)].map((match) => match[1] ?? '')
  guideKey = await createTestKey(service.services, named.filter(isPermission))
})

afterAll(async () => {
  for (const close of closers.reverse()) await close()
})

interface Command {
  readonly words: readonly string[]
  /** What the comment above it announces, if it is a refusal. */
  readonly refusalStatus: number | undefined
}

/** The curl commands of the guide. */
function listCommands(): Command[] {
  const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '')
  return blocks.flatMap((block) =>
    [
      ...block.matchAll(
        /^(?:# refused with (\d+)\n)?(curl (?:[^'"\n\\]|\\\n|'[^']*'|"[^"]*")+)$/gm,
      ),
    ].map(([, status, command = '']) => ({
      words: splitWords(command),
      refusalStatus: status === undefined ? undefined : Number(status),
    })),
  )
}

/** As a shell does that has what the guide exports. */
function splitWords(command: string): string[] {
  const pieces = command.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"\\]+)/g)
  return [...pieces].map(([, single, double, plain]) =>
    single !== undefined
      ? single
      : (double ?? plain ?? '')
          .replaceAll('$API_KEY', guideKey)
          .replaceAll('$BASE', '')
          .replaceAll('$STREAM_ID', streamId)
          .replaceAll('$(date +%s)-$RANDOM', newUuid()),
  )
}

/** The request that curl makes of its arguments. */
function toRequest(words: readonly string[]): ContractRequest {
  const valuesOf = (option: string) =>
    words.flatMap((word, index) => (words[index - 1] === option ? [word] : []))
  const path = words.find((word) => word.startsWith('/')) ?? ''
  const query = new URLSearchParams(
    valuesOf('--data-urlencode').map((pair): [string, string] => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  ).toString()
  const [body] = valuesOf('-d')
  return {
    method: (valuesOf('-X')[0] ?? 'GET') as Method,
    url: query === '' ? path : `${path}?${query}`,
    key: null,
    headers: Object.fromEntries(
      valuesOf('-H').map((line) => {
        const at = line.indexOf(':')
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
      }),
    ),
    ...(body === undefined ? {} : { body }),
  }
}

it('shows commands that are answered as it says, with the key that it makes', async () => {
  const commands = listCommands()
  expect(commands.length).toBe(guide.split('\ncurl ').length - 1)
  for (const { words, refusalStatus } of commands) {
    const answer = await service.send(toRequest(words))
    const what = `${words.join(' ')}: ${answer.body}`
    if (refusalStatus === undefined) {
      expect([what, answer.statusCode === 200 || answer.statusCode === 201]).toEqual([what, true])
    } else {
      expect([what, answer.statusCode]).toEqual([what, refusalStatus])
    }
  }
})

it('names error codes that exist', () => {
  const codes = [...guide.matchAll(/(?:409|422) `(\w+)`/g)].map((match) => match[1])
  expect(codes.length).toBeGreaterThan(0)
  expect(codes.filter((code) => code === undefined || !(code in ERROR_CODES))).toEqual([])
})
