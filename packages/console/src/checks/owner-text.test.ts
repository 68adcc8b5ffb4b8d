import { expect, it } from 'vitest'
import { renderOwnerText } from './owner-text.ts'

it('fills in the platform, and the name of everything else, as text that Markdown leaves as it is', () => {
  const template = '{{ device.name }} runs {{ device.platform }}: {{ issue.value.path }}'
  expect(renderOwnerText(template, 'darwin')).toBe(
    String.raw`\[device name\] runs darwin: \[path\]`,
  )
})

it('leaves what all objects inherit alone', () => {
  const names = ['__proto__.spoiled', 'constructor.prototype.spoiled', 'issue.__proto__.spoiled']
  for (const name of names) renderOwnerText(`{{ ${name} }}`, 'linux')
  expect(({} as Record<string, unknown>)['spoiled']).toBeUndefined()
})
