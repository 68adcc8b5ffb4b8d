import { expect, it } from 'vitest'
import { renderOwnerText } from './owner-text.ts'

it('fills in the platform, and the name of everything else, as text that Markdown leaves as it is', () => {
  const template = '{{ device.name }} runs {{ device.platform }}: {{ issue.value.path }}'
  expect(renderOwnerText(template, 'darwin')).toEqual({
    text: String.raw`\[device name\] runs darwin: \[path\]`,
    isFilled: true,
  })
})

it('leaves what all objects inherit alone', () => {
  const names = ['__proto__.spoiled', 'constructor.prototype.spoiled', 'issue.__proto__.spoiled']
  for (const name of names) renderOwnerText(`{{ ${name} }}`, 'linux')
  expect(({} as Record<string, unknown>)['spoiled']).toBeUndefined()
})

it('differs by the platform alone where nothing else is read', () => {
  const template = "{% if device.platform == 'linux' %}here{% endif %}"
  expect(renderOwnerText(template, 'linux')).toEqual({ text: 'here', isFilled: false })
})

it('fills in nothing where a value is only compared', () => {
  const template = '{% if issue.value.count > 2 %}many{% else %}few{% endif %}'
  expect(renderOwnerText(template, 'linux')).toEqual({ text: 'few', isFilled: false })
})

it('shows what is read as a whole and by its parts', () => {
  const list =
    '{% if issue.value.items.size > 2 %}{% for each in issue.value.items %}{{ each }}{% endfor %}{% endif %}'
  expect(renderOwnerText(list, 'linux').text).toBe(String.raw`\[items\]`)
  const joined = '{{ issue.value.items | join: ", " }}{% if issue.value.items.first %}.{% endif %}'
  expect(renderOwnerText(joined, 'linux').text).toMatch(/^\\\[items\\\]/)
})
