import { describe, expect, it } from 'vitest'
import { AppError } from '../../platform/app-error.ts'
import {
  RENDERED_LENGTH_MAX,
  TEMPLATE_LENGTH_MAX,
  listTemplateVariables,
  parseTemplateProblems,
  renderTemplate,
} from './render-template.ts'

describe('renderTemplate', () => {
  it('fills in variables and follows conditions on the platform', () => {
    const template =
      '{% case device.platform %}{% when "darwin" %}Mac {{ device.name }}{% else %}Other{% endcase %}'
    const device = { platform: 'darwin', name: 'Ada' }
    expect(renderTemplate(template, { device })).toBe('Mac Ada')
    expect(renderTemplate(template, { device: { ...device, platform: 'linux' } })).toBe('Other')
  })

  it('renders a missing variable as nothing, at any depth', () => {
    expect(renderTemplate('[{{ issue.value.a.b }}{{ nothing }}]', {})).toBe('[]')
  })

  it.each([
    ['# heading', '\\# heading'],
    ['[click](https://example.com)', '\\[click\\]\\(https\\://example\\.com\\)'],
    ['<img src=x>', '\\<img src\\=x\\>'],
    ['**bold** `code`', '\\*\\*bold\\*\\* \\`code\\`'],
    ['www.example.com a@example.com', 'www\\.example\\.com a\\@example\\.com'],
    ['one\n\n- two', 'one \\- two'],
    ['abc\u202edef', 'abc def'],
    ['{{ device.name }}', '\\{\\{ device\\.name \\}\\}'],
  ])('inserts %j from a device as text', (value, expected) => {
    expect(renderTemplate('{{ issue.value.x }}', { issue: { value: { x: value } } })).toBe(expected)
    expect(renderTemplate('{% echo issue.value.x %}', { issue: { value: { x: value } } })).toBe(
      expected,
    )
  })

  it('inserts a value as inline code that the value cannot leave', () => {
    const render = (path: string) =>
      renderTemplate('{{ issue.key | code }}', { issue: { key: path } })
    expect(render('/Users/ada/.ssh/id_rsa')).toBe('`/Users/ada/.ssh/id_rsa`')
    expect(render('a`<b>``c')).toBe('``` a`<b>``c ```')
    expect(render('')).toBe('')
  })

  it('cuts long values', () => {
    const text = renderTemplate('{{ issue.key }}', { issue: { key: 'a'.repeat(5_000) } })
    expect(text).toHaveLength(1_000)
    expect(text.endsWith('…')).toBe(true)
  })

  it('reads own properties only', () => {
    const template = '{{ device.constructor.name }}{{ device.toString }}'
    expect(renderTemplate(template, { device: {} })).toBe('')
  })

  it.each([
    ['an output without end', '{% for i in (1..9999) %}' + 'x'.repeat(1_000) + '{% endfor %}'],
    ['a huge range', '{% for i in (1..100000000) %}{% endfor %}'],
    [
      'a doubling string',
      '{% assign x = "aaaaaaaa" %}{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}',
    ],
    [
      'a long computation',
      '{% for i in (1..9000) %}{% for j in (1..9000) %}{% if i %}{% endif %}{% endfor %}{% endfor %}',
    ],
    ['a long template', ' '.repeat(TEMPLATE_LENGTH_MAX + 1)],
    ['broken syntax', '{% if device.name %}'],
  ])('refuses %s', (_, template) => {
    expect(() => renderTemplate(template, {})).toThrow(AppError)
  })

  it('never answers more than the bound', () => {
    const text = renderTemplate('x'.repeat(TEMPLATE_LENGTH_MAX), {})
    expect(text.length).toBeLessThanOrEqual(RENDERED_LENGTH_MAX)
  })
})

describe('parseTemplateProblems', () => {
  it('finds nothing wrong with a template that uses what is allowed', () => {
    const template =
      '{% for key in issue.value.keys %}{{ key.path | code }}{% endfor %}{{ device.name | default: "it" }}'
    expect(parseTemplateProblems(template)).toEqual([])
  })

  it.each([
    ['{% include "a" %}', 'include'],
    ['{% render "a" %}', 'render'],
    ['{% layout "a" %}', 'layout'],
    ['{% capture a %}{% endcapture %}', 'capture'],
    ['{{ issue.value | raw }}', 'raw'],
    ['{{ issue.value | json }}', 'json'],
    ['{{ secrets.key }}', 'secrets'],
    ['{% if device.name %}', 'not closed'],
    [' '.repeat(TEMPLATE_LENGTH_MAX + 1), 'longer than'],
  ])('names what is wrong with %s', (template, word) => {
    const problems = parseTemplateProblems(template)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(word)
  })
})

describe('listTemplateVariables', () => {
  it('names what is read anywhere in the template, and nothing that the template makes itself', () => {
    const template =
      '{% assign own = issue.value.path %}{{ own | code }}{% if person.name %}{{ device.name }}{% endif %}'
    expect(listTemplateVariables(template)).toEqual([
      ['issue', 'value', 'path'],
      ['person', 'name'],
      ['device', 'name'],
    ])
  })

  it('ends before a computed name', () => {
    expect(
      listTemplateVariables('{{ issue.value[device.name] }}{{ issue.value.list[0] }}'),
    ).toEqual(
      expect.arrayContaining([
        ['issue', 'value'],
        ['device', 'name'],
        ['issue', 'value', 'list'],
      ]),
    )
  })

  it('refuses a template that does not parse', () => {
    expect(() => listTemplateVariables('{% if %}')).toThrow(AppError)
  })
})
