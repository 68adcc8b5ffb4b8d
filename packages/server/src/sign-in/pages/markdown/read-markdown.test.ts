import { describe, expect, it } from 'vitest'
import { createMarkdownReader, type Inline } from './read-markdown.ts'

const readMarkdown = createMarkdownReader((address) =>
  /^(?:https:|mailto:|ms-settings:)/.test(address),
)

describe('Markdown', () => {
  const inlinesOf = (text: string): readonly Inline[] => {
    const [block] = readMarkdown(text)
    return block?.kind === 'paragraph' ? block.text : []
  }

  describe('blocks', () => {
    it('are told apart', () => {
      expect(
        readMarkdown(
          '# Why\n\nOne\nline\n\n- a\n- b\n  1. c\n\n> told\n\n```sh\n<b> **x**\n```\n---\nend',
        ),
      ).toEqual([
        { kind: 'heading', text: ['Why'] },
        { kind: 'paragraph', text: ['One\nline'] },
        {
          kind: 'list',
          isOrdered: false,
          items: [
            [{ kind: 'paragraph', text: ['a'] }],
            [
              { kind: 'paragraph', text: ['b'] },
              {
                kind: 'list',
                isOrdered: true,
                items: [[{ kind: 'paragraph', text: ['c'] }]],
              },
            ],
          ],
        },
        { kind: 'quote', blocks: [{ kind: 'paragraph', text: ['told'] }] },
        { kind: 'code', text: '<b> **x**' },
        { kind: 'rule' },
        { kind: 'paragraph', text: ['end'] },
      ])
    })

    it('end where they should when nothing ends them', () => {
      expect(readMarkdown('```\nopen')).toEqual([{ kind: 'code', text: 'open' }])
      expect(readMarkdown('-\n\n')).toEqual([{ kind: 'list', isOrdered: false, items: [[]] }])
      expect(readMarkdown('')).toEqual([])
    })
  })

  describe('lines', () => {
    it.each<[string, readonly Inline[]]>([
      ['a **b** c', ['a ', { kind: 'strong', text: ['b'] }, ' c']],
      ['*b* _c_', [{ kind: 'em', text: ['b'] }, ' ', { kind: 'em', text: ['c'] }]],
      ['2 * 3 * 4', ['2 * 3 * 4']],
      ['snake_case_name', ['snake_case_name']],
      ['`a * b`', [{ kind: 'code', text: 'a * b' }]],
      ['\\*not\\*', ['*not*']],
      ['**open', ['**open']],
      ['Choose **ⓘ** next', ['Choose ', { kind: 'strong', text: [{ kind: 'info' }] }, ' next']],
      ['a ⓘⓘ b', ['a ', { kind: 'info' }, { kind: 'info' }, ' b']],
      ['`ⓘ`', [{ kind: 'code', text: 'ⓘ' }]],
      [
        '[**here**](https://example.com/a?b=1 "t")',
        [
          {
            kind: 'link',
            to: 'https://example.com/a?b=1',
            text: [{ kind: 'strong', text: ['here'] }],
          },
        ],
      ],
      [
        '<https://example.com>',
        [{ kind: 'link', to: 'https://example.com', text: ['https://example.com'] }],
      ],
    ])('%s', (text, expected) => {
      expect(inlinesOf(text)).toEqual(expected)
    })
  })

  describe('what others could have written', () => {
    it.each([
      '<img src=x onerror=alert(1)>',
      '<script>alert(1)</script>',
      '[x](javascript:alert(1))',
      '[x](data:text/html,<script>)',
      '<javascript:alert(1)>',
      '[x](JaVaScRiPt:alert)',
    ])('%s stays text', (text) => {
      const inlines = inlinesOf(text)
      expect(inlines).toEqual([text])
    })

    it('shows of an image what it is called, and does not fetch it', () => {
      expect(inlinesOf('![a cat](https://example.com/cat.png)')).toEqual([
        { kind: 'link', to: 'https://example.com/cat.png', text: ['a cat'] },
      ])
    })

    it.each(['*', '_', '[', '`', '<', '> ', '- ', '**a ', '[x](', '  '])(
      'is read in time that grows with its length: %s',
      (part) => {
        const before = process.cpuUsage()
        readMarkdown(part.repeat(10_000))
        readMarkdown(`${part}\n`.repeat(5_000))
        const { user, system } = process.cpuUsage(before)
        expect(user + system).toBeLessThan(4_000_000)
      },
    )
  })
})
