import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Sealer } from '../../platform/secrets/sealed-box.ts'
import { createTargetOpener } from './webhook-target.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A box that is opened by reading it; `opened` lists what was. */
function createGlassSealer() {
  const opened: string[] = []
  const openText = (sealed: Buffer) => {
    opened.push(sealed.toString())
    return sealed.toString()
  }
  return { opened, sealer: { openText } as Partial<Sealer> as Sealer }
}

function sendingOf(id: string, ...secrets: readonly string[]) {
  const webhook = { id, url: 'https://receiver.example', identifier: `webhook-${id}` }
  return {
    webhook: { ...webhook, signing: 'standard' as const, headersSealed: null },
    secrets: secrets.map((secret, index) => ({
      id: String(index),
      secretSealed: Buffer.from(secret),
    })),
  }
}

const OLD = 'whsec_b2xkLW9sZC1vbGQtb2xkLW9sZC1vbGQ='
const NEW = 'whsec_bmV3LW5ldy1uZXctbmV3LW5ldy1uZXc='

test('opens the secrets of a webhook once, and again when they are others', () => {
  const { opened, sealer } = createGlassSealer()
  const open = createTargetOpener(sealer)
  const first = open(sendingOf('1', OLD))
  expect(open(sendingOf('1', OLD))).toBe(first)
  expect(open(sendingOf('1', OLD, NEW)).signers).toHaveLength(2)
  expect(open(sendingOf('1', NEW)).secrets).toContain(NEW)
  expect(open(sendingOf('1', NEW)).secrets).not.toContain(OLD)
  expect(open(sendingOf('2', NEW)).webhookId).toBe('2')
  expect(opened).toEqual([OLD, OLD, NEW, NEW, NEW])
})

test('forgets within ten minutes what it has opened', () => {
  const { opened, sealer } = createGlassSealer()
  const open = createTargetOpener(sealer)
  for (const minute of [0, 4, 8]) {
    open(sendingOf('1', OLD))
    expect([minute, opened.length]).toEqual([minute, 1])
    vi.advanceTimersByTime(4 * 60_000)
  }
  open(sendingOf('1', OLD))
  expect(opened).toHaveLength(2)
})
