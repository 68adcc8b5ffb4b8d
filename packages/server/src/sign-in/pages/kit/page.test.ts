import { describe, expect, it } from 'vitest'
import { html } from './markup.ts'
import { createPageAssets } from './page-assets.ts'
import { pageHeaders } from './page-headers.ts'
import { renderPage } from './page.ts'

const HOSTILE = `"'><script>alert(1)</script>`
const assets = createPageAssets()

describe('a page', () => {
  const page = renderPage(
    {
      language: 'de',
      brand: { name: HOSTILE, logoVersion: HOSTILE, colour: HOSTILE },
      title: HOSTILE,
      body: html`<h1>${HOSTILE}</h1>`,
      isProving: true,
      liveFrom: HOSTILE,
      goesOn: { to: HOSTILE, afterSeconds: 2 },
    },
    assets,
  )

  it('has its scripts, which are files, whatever its texts are', () => {
    expect(page.match(/<script/g)).toHaveLength(2)
    for (const name of ['pages', 'proof']) {
      expect(page).toMatch(
        new RegExp(`<script type="module" src="/sign-in/assets/${name}-[\\w-]{12}\\.js"></script>`),
      )
    }
  })

  it('has no style and no handler in it, as its policy demands', () => {
    expect(page).not.toMatch(/<style|\sstyle=/)
    expect(page.replace(/"[^"]*"/g, '""')).not.toMatch(/\son\w+=/)
  })

  it('names its language and the other ones', () => {
    expect(page).toContain('<html lang="de"')
    expect(page).toContain('<a href="?language=en" lang="en" hreflang="en">English</a>')
  })
})

describe('the files of pages', () => {
  it('are named after what is in them', () => {
    const name = assets.nameOf('pages.js')
    expect(name).toMatch(/^pages-[\w-]{12}\.js$/)
    expect(assets.find(name)?.content.length).toBeGreaterThan(0)
    expect(assets.find('pages.js')).toBeUndefined()
    expect(assets.find('../kit/page.ts')).toBeUndefined()
  })

  it('hold at most 20 kB of script', () => {
    const lengths = (['pages.js', 'proof.js'] as const).map(
      (name) => assets.find(assets.nameOf(name))?.content.length ?? Infinity,
    )
    expect((lengths[0] ?? 0) + (lengths[1] ?? 0)).toBeLessThanOrEqual(20_000)
  })
})

it('the policy of a page lets nothing in from elsewhere and no text become a script', () => {
  const { 'content-security-policy': policy = '' } = pageHeaders({ formsTo: ['https://a.example'] })
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("form-action 'self' https://a.example")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).toContain("require-trusted-types-for 'script'")
  expect(policy).not.toMatch(/unsafe|\*/)
})
