import { describe, expect, it } from 'vitest'
import { html, isSafeAddress, renderDocument } from './markup.ts'

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</title><svg onload=alert(1)>',
  '&lt;b&gt; &amp; <!-- ',
  '${html}`<b>`',
]

describe('a template', () => {
  it.each(HOSTILE)('puts %j in as text, in elements and attributes', (text) => {
    const page = renderDocument(html`<p title=${text} data-x=${text}>${text}</p>`)
    // What is left without attribute values and without the element is nothing.
    const [, rest = ''] =
      /^<!doctype html><p title="[^"]*" data-x="[^"]*">([^<]*)<\/p>$/.exec(page) ?? []
    const told = rest.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
    expect(told).toBe(text)
  })

  it('takes an object that looks like an element for nothing', () => {
    const forged: unknown = JSON.parse(
      '{"type":"p","props":{"dangerouslySetInnerHTML":{"__html":"<script>alert(1)</script>"}},"__v":1}',
    )
    expect(renderDocument(html`<p>${forged}</p>`)).not.toContain('<script')
  })

  it('gives the same page each time', () => {
    const page = () =>
      renderDocument(
        html`<main>
          <h1>Fixed</h1>
          ${html`<p>Fixed too</p>`}
        </main>`,
      )
    expect(page()).toBe(page())
  })
})

describe('an address', () => {
  it.each([
    'https://example.com/a?b=1#c',
    'mailto:help@example.com',
    'x-apple.systempreferences:com.apple.preference.security?FileVault',
    'ms-settings:windowsupdate',
  ])('%s may be followed', (address) => {
    expect(isSafeAddress(address)).toBe(true)
  })

  it.each([
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.com',
    'https://example.com/"onclick="alert(1)',
    'https://example.com/\njavascript:alert(1)',
  ])('%j may not', (address) => {
    expect(isSafeAddress(address)).toBe(false)
  })
})
