/* The guide to webhooks is true: its examples are what is sent, and its code verifies what is sent. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../src/platform/clock.ts'
import {
  createWebhookSigner,
  generateWebhookSecret,
  type SigningForm,
} from '../src/signals/webhooks/webhook-secret.ts'
import { TEST_EVENT, WEBHOOK_EVENTS } from '../src/signals/webhooks/webhook-event-types.ts'
import { toWebhookRequest } from '../src/signals/webhooks/webhook-target.ts'
import { EXAMPLE_BODIES } from './support/webhook-examples.ts'

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8')
const EVENT_NAMES = [...Object.keys(WEBHOOK_EVENTS), TEST_EVENT]

/** What the guide shows under the heading of an event. */
function exampleOf(event: string): unknown {
  const section = GUIDE.split(`\n### ${event}\n`)[1] ?? ''
  const [, json = 'null'] = /```json\n([\s\S]*?)```/.exec(section.split('\n### ')[0] ?? '') ?? []
  return JSON.parse(json)
}

function codeOf(language: string, word: string): string {
  const blocks = [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))]
  const block = blocks.map((match) => match[1] ?? '').find((code) => code.includes(word))
  if (block === undefined) throw new Error(`the guide has no ${word}`)
  return block
}

function deliver(form: SigningForm, body: string, at = systemClock.now()) {
  const { secret } = generateWebhookSecret(form)
  const target = {
    webhookId: '1',
    url: 'https://receiver.example.com/',
    identifier: 'id',
    headers: {},
    secrets: [secret],
    signers: [createWebhookSigner(form, secret)],
    isHex: form === 'hex',
  }
  const request = toWebhookRequest(target, { eventId: '01KDYAKAM6FT1557RP526WFAX9', body }, at)
  return { headers: request.headers ?? {}, secret }
}

describe('the events of the guide', () => {
  it.each(EVENT_NAMES)('%s is shown as it is sent', (event) => {
    const { data } = JSON.parse(EXAMPLE_BODIES.get(event) ?? '{}') as { data: unknown }
    expect(data).toBeDefined()
    expect(exampleOf(event)).toEqual(data)
  })

  it('are all that there are', () => {
    const [, events = ''] = GUIDE.split('\n## Events\n')
    const headings = [...events.matchAll(/^### (.+)$/gm)].map((match) => match[1])
    expect(headings).toEqual(EVENT_NAMES)
  })
})

describe('the code of the guide', () => {
  const body = EXAMPLE_BODIES.get('issues.new') ?? ''
  const longAgo = new Date(systemClock.now().getTime() - 600_000)

  it('for Node.js accepts a delivery, and refuses a changed, an old and a foreign one', async () => {
    const { isGenuine } = (await importCode(codeOf('js', 'isGenuine('))) as {
      isGenuine: (headers: object, body: string, secret: string) => boolean
    }
    const { headers, secret } = deliver('standard', body)
    expect(isGenuine(headers, body, secret)).toBe(true)
    expect(isGenuine(headers, `${body} `, secret)).toBe(false)
    expect(isGenuine(headers, body, generateWebhookSecret('standard').secret)).toBe(false)
    const old = deliver('standard', body, longAgo)
    expect(isGenuine(old.headers, body, old.secret)).toBe(false)
  })

  it('for the hex form accepts a delivery, and refuses a changed one', async () => {
    const { isGenuineHex } = (await importCode(codeOf('js', 'isGenuineHex('))) as {
      isGenuineHex: (authorization: string | undefined, body: string, secret: string) => boolean
    }
    const { headers, secret } = deliver('hex', body)
    expect(isGenuineHex(headers['authorization'], body, secret)).toBe(true)
    expect(isGenuineHex(headers['authorization'], `${body} `, secret)).toBe(false)
    expect(isGenuineHex(undefined, body, secret)).toBe(false)
  })

  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    'for Python accepts a delivery, and refuses a changed, an old and a foreign one',
    () => {
      const good = deliver('standard', body)
      const old = deliver('standard', body, longAgo)
      const foreign = generateWebhookSecret('standard').secret
      const cases = [
        [good.headers, body, good.secret],
        [good.headers, `${body} `, good.secret],
        [good.headers, body, foreign],
        [old.headers, body, old.secret],
      ]
      const program = `${codeOf('python', 'is_genuine(')}
import json, sys
print(json.dumps([is_genuine(h, b.encode(), s) for h, b, s in json.load(sys.stdin)]))`
      const run = spawnSync('python3', ['-c', program], {
        input: JSON.stringify(cases),
        encoding: 'utf8',
      })
      expect(run.stderr).toBe('')
      expect(JSON.parse(run.stdout)).toEqual([true, false, false, false])
    },
  )
})

function importCode(code: string): Promise<unknown> {
  const url = `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`
  return import(url)
}
