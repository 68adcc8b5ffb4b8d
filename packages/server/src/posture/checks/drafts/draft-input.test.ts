import { expect, test } from 'vitest'
import { createDraftBody, toCustomSlug } from './draft-input.ts'

test.each([
  ['Disk encryption', 'custom-disk-encryption'],
  ['  Über-Prüfung: 2 Geräte! ', 'custom-uber-prufung-2-gerate'],
  ['日本語', 'custom-check'],
  ['x'.repeat(200), `custom-${'x'.repeat(88)}`],
])('the slug of %s is %s, and may be written', (name, slug) => {
  expect(toCustomSlug(name)).toBe(slug)
  expect(createDraftBody.safeParse({ name: 'x', slug }).success).toBe(true)
})
